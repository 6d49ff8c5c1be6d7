import AuthNetworking
import AuthNetworkingURLSession

let transport: any HTTPTransport = URLSessionTransport()
print(type(of: transport))
