import MockServerCore
import MockServerHTTP

let front = HTTPFront(handler: MockAuthServer(configuration: MockServerConfiguration()))
print(try front.start().url)
await front.stop()
