import AuthNetworking
import AuthNetworkingCurl

let transport: any HTTPTransport = CurlTransport()
print(type(of: transport))
