import MockServerCore

let server = MockAuthServer(configuration: MockServerConfiguration())
print(type(of: server))
