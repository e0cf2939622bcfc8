import Foundation
import HTTPTypes
import Hummingbird
import PersistSyncHTTP

/// Mounts a hub below the path `/sync`.
struct SyncRoutes {
  let server: SyncHubServer

  private static let maximumSize = 64 << 20

  func add(to router: Router<BasicRequestContext>) {
    for method in [HTTPRequest.Method.get, .head, .put, .post, .delete] {
      router.on("sync/**", method: method, use: answer)
    }
  }

  @Sendable private func answer(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let body = try await request.body.collect(upTo: Self.maximumSize)
    let headers = Dictionary(
      request.headers.map { ($0.name.canonicalName, $0.value) }, uniquingKeysWith: { first, _ in first })
    let response = await server.response(
      to: SyncHubRequest(
        method: request.method.rawValue, path: String(request.uri.path.dropFirst("/sync/".count)), headers: headers,
        body: body.withUnsafeReadableBytes { Data($0) }))
    var fields = HTTPFields()
    for (name, value) in response.headers {
      if let name = HTTPField.Name(name) { fields[name] = value }
    }
    return Response(
      status: .init(code: response.status), headers: fields, body: .init(byteBuffer: ByteBuffer(bytes: response.body)))
  }
}
