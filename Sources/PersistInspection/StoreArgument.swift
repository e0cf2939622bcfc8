public import Foundation
public import Persist

/// The place of a store as an argument of a command: a path, or the URL of a PostgreSQL server.
public enum StoreArgument {
  /// Reads the URLs of servers; nil in a program without an engine for them.
  private static let serverReader = LockProtected<(@Sendable (String) throws -> StoreLocation)?>(nil)

  /// Lets the arguments of this program name stores on servers.
  ///
  /// ```swift
  /// import PersistInspection
  /// import PersistPostgreSQL
  ///
  /// StoreArgument.acceptServers { try StoreLocation.postgreSQL($0) }
  /// ```
  ///
  /// - Parameter read: Returns the location that a URL names.
  public static func acceptServers(_ read: @escaping @Sendable (String) throws -> StoreLocation) {
    serverReader.withLock { $0 = read }
  }

  /// Returns the URL of a store, from a path or from `postgresql://USER@HOST/DATABASE?schema=NAME`.
  ///
  /// - Throws: `PersistenceError.Code.invalidRequest` for an empty text, for a URL that libpq doesn't understand and
  ///   for one of another scheme, and `PersistenceError.Code.storeOpenFailed` if the program doesn't accept servers.
  public static func url(_ text: String) throws -> URL {
    guard isServer(text) else { return try file(text, "A store") }
    guard let read = serverReader.withLock({ $0 }) else {
      throw PersistenceError(
        .storeOpenFailed, "This program was built without libpq, PostgreSQL's library for clients.",
        fix: "Install the library (Debian: apt-get install libpq-dev; macOS: brew install libpq) and build again.")
    }
    guard let url = try read(text).url else {
      throw PersistenceError(.invalidRequest, "The URL of the server can't be read.", fix: form)
    }
    return url
  }

  /// Returns the URL of something that can only be a file.
  ///
  /// - Parameter what: The thing, such as "A backup".
  /// - Throws: `PersistenceError.Code.invalidRequest` for a URL, and for an empty text, which would be the current
  ///   folder.
  public static func file(_ text: String, _ what: String, isFolder: Bool = false, fix: String? = nil) throws -> URL {
    guard !text.isEmpty else { throw PersistenceError(.invalidRequest, "\(what) can't have an empty path.") }
    guard isServer(text) else {
      try requirePath(text)
      return isFolder ? URL(fileURLWithPath: text, isDirectory: true) : URL(fileURLWithPath: text)
    }
    throw PersistenceError(.invalidRequest, "\(what) is a file, and can't be on a server.", fix: fix)
  }

  /// - Throws: `PersistenceError.Code.invalidRequest` for a URL, which would name a file that doesn't exist.
  private static func requirePath(_ text: String) throws {
    guard let url = text.prefixMatch(of: /([A-Za-z][A-Za-z0-9+.\-]+):\/\//) else { return }
    throw PersistenceError(
      .invalidRequest, "The URL scheme '\(url.1)' isn't supported.",
      fix: "Specify the path of a file, or the URL of a store on a server. \(form)")
  }

  /// Whether an argument is the URL of a server.
  public static func isServer(_ text: String) -> Bool {
    let text = text.lowercased()
    return ServerAddress.schemes.contains { text.hasPrefix($0 + "://") }
  }

  /// The place of a store for people: a path, or a URL without its password.
  public static func name(of url: URL) -> String { url.isFileURL ? url.path : url.withoutSecrets.absoluteString }

  /// The name of a store: of its file, or of its schema.
  public static func shortName(of url: URL) -> String {
    ServerAddress(url).map(\.schema) ?? url.lastPathComponent
  }

  /// A text without the passwords of URLs in it.
  public static func withoutPasswords(_ text: String) -> String {
    var text = text
    // A password with spaces or quotation marks ends a URL within a text, but not as an argument.
    for argument in CommandLine.arguments where isServer(argument) {
      guard let range = ServerURL.passwordRange(in: argument), !range.isEmpty else { continue }
      text = text.replacing(":\(argument[range])@", with: "@")
    }
    return ServerURL.withoutPasswords(text)
  }

  private static let form = "Write it as 'postgresql://user@host/database?schema=name'."
}
