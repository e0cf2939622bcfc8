package import Foundation
import Persist
package import PersistStudioSession
import StudioPage

/// Serves the studio's page on the loopback interface.
package struct StudioServer: Sendable {
  private let session: StudioSession
  private let token: AccessToken
  private let port: Int
  /// A folder with the page's files, in place of the embedded ones: for work on the page.
  private let pageFolder: URL?

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - session: The open store.
  ///   - port: The port; 0 for a free one.
  ///   - token: The secret in the page's address.
  ///   - pageFolder: A folder with the page's files, for work on the page; nil for the embedded ones.
  package init(_ session: StudioSession, port: Int, token: AccessToken = AccessToken(), pageFolder: URL? = nil) {
    self.session = session
    self.token = token
    self.port = port
    self.pageFolder = pageFolder
  }

  /// Serves until the program is told to end.
  ///
  /// - Parameter started: Called once with the address to open.
  /// - Throws: `PersistenceError.Code.fileAccess` if the port can't be used.
  package func run(_ started: (URL) -> Void) async throws {
    let server: HTTPServer
    do {
      server = try HTTPServer(port: port)
    } catch let error as POSIXError {
      throw PersistenceError(
        .fileAccess, "The port \(port) can't be used: \(Self.reason(error)).",
        fix: "Choose another one with --port, or leave the option out for a free one.")
    }
    if let url = URL(string: "http://127.0.0.1:\(server.port)/?token=\(token.text)") { started(url) }
    let access = Guard(token: token, port: server.port)
    await server.run(StudioResponder(session: session, access: access, pageFolder: pageFolder))
  }

  private static func reason(_ error: POSIXError) -> String {
    switch error.code {
    case .EADDRINUSE: "another program uses it"
    case .EACCES: "this user may not"
    default: String(cString: strerror(error.code.rawValue))
    }
  }
}
