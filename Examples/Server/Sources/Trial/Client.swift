import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests to a server on this machine.
struct Client: Sendable {
  struct Answer: Sendable {
    let status: Int
    let tag: String?
    let body: Data
  }

  private let port: Int
  private let session: URLSession

  init(port: Int) {
    self.port = port
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = 128
    configuration.timeoutIntervalForRequest = 30
    session = URLSession(configuration: configuration)
  }

  /// A client with connections of its own, whose requests don't queue behind this one's.
  func separate() -> Client { Client(port: port) }

  /// - Parameter body: sent as JSON.
  func send(
    _ method: String, _ path: String, headers: [String: String] = [:], body: (any Encodable)? = nil
  ) async throws -> Answer {
    guard let url = URL(string: "http://127.0.0.1:\(port)/\(path)") else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.httpMethod = method
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    if let body {
      request.httpBody = try JSONEncoder().encode(body)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    let (data, response) = try await session.data(for: request)
    guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    return Answer(status: response.statusCode, tag: response.value(forHTTPHeaderField: "ETag"), body: data)
  }
}
