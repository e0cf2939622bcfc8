/// Decides which requests are answered: those of a page that this program has sent to a browser with its secret.
///
/// Other sites in the same browser can send requests to the loopback interface too, under names that lead to it, and
/// other users of the machine can connect to it. Therefore the name, the origin and the secret are checked.
struct Guard: Sendable {
  let token: AccessToken
  /// The port that the server is bound to.
  let port: Int

  /// The reason for which a request isn't answered.
  enum Refusal: Error {
    /// The request was sent to another name than that of the loopback interface.
    case wrongHost
    /// Another site sent the request.
    case wrongOrigin
    /// The request doesn't have the secret.
    case noToken
  }

  /// A cookie's name has the port, because cookies of all ports are one.
  var cookieName: String { "persist_studio_\(port)" }

  var cookie: String { "\(cookieName)=\(token.text); HttpOnly; SameSite=Strict; Path=/" }

  private var hosts: Set<String> { ["127.0.0.1:\(port)", "localhost:\(port)"] }

  /// - Throws: ``Refusal``.
  func checkPlace(_ request: HTTPRequest) throws {
    guard let host = request["host"], hosts.contains(host.lowercased()) else { throw Refusal.wrongHost }
    let origin = request["origin"]
    if let origin, origin != "http://\(host)" { throw Refusal.wrongOrigin }
    let site = request["sec-fetch-site"]
    if let site, site != "same-origin", site != "none" { throw Refusal.wrongOrigin }
    // Browsers send the origin with every request that may change something.
    if request.method != "GET", origin == nil { throw Refusal.wrongOrigin }
  }

  /// - Throws: ``Refusal``.
  func checkToken(_ request: HTTPRequest) throws {
    let cookies = request.values("cookie").flatMap { line in
      line.split(separator: ";").map { cookie in cookie.drop { $0 == " " } }
    }
    let isKnown = cookies.contains { cookie in
      let parts = cookie.split(separator: "=", maxSplits: 1)
      return parts.count == 2 && parts[0] == cookieName && token.matches(String(parts[1]))
    }
    guard isKnown else { throw Refusal.noToken }
  }
}
