import MockServerCore
import MockServerInProcess

let transport = InProcessTransport(server: MockAuthServer(configuration: MockServerConfiguration()))
print(type(of: transport))
