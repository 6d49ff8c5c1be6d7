internal import AuthModels
internal import AuthNetworking
internal import Groundwork

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A client's way to the network, with faults.
struct FaultyTransport: HTTPTransport {
  let base: any HTTPTransport
  let faults: Set<ClientFault>

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    var request = request
    if faults.contains(.misnamesAField), let body = request.body {
      request.body = Data(String(decoding: body, as: UTF8.self).replacing("\"email\"", with: "\"mail\"").utf8)
    }
    let response = try await base.send(request)
    if faults.contains(.refreshIsRefreshed), request.url.path.hasSuffix("refresh"), response.status == 401 {
      return try await base.send(request)
    }
    if faults.contains(.redirectsFollowed), (300...399).contains(response.status),
      let place = response.headers["Location"], let url = URL(string: place, relativeTo: request.url)?.absoluteURL
    {
      let realm = request.url.path.split(separator: "/").prefix(2).joined(separator: "/")
      var next = request
      // A path of the server is one of the scenario's realm.
      next.url =
        place.hasPrefix("/") ? URL(string: "/\(realm)\(place)", relativeTo: request.url)?.absoluteURL ?? url : url
      return try await base.send(next)
    }
    return response
  }
}
