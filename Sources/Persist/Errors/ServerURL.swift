package import Foundation

/// The text of the URL of a database server.
package enum ServerURL {
  /// The names of settings that appear in no description, error or log.
  package static let secrets: Set<String> = [
    "password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key",
  ]

  /// The end of the scheme of a server's URL and of the slashes after it; nil for other texts.
  ///
  /// Without a regular expression, which takes 0.6 million instructions for each text, a tenth of opening a store.
  private static func schemeEnd(in text: String) -> String.Index? {
    for scheme in ["postgres://", "postgresql://"] {
      let start = text.prefix(scheme.count)
      if start.lowercased() == scheme { return start.endIndex }
    }
    return nil
  }

  /// The range of the password, as its author meant it: up to the last `@` before the query, even if it contains a `/`
  /// or an `@` that should be percent-encoded. Nil without a password.
  package static func passwordRange(in text: String) -> Range<String.Index>? {
    guard let scheme = schemeEnd(in: text) else { return nil }
    let main = text[scheme..<(text.firstIndex(of: "?") ?? text.endIndex)]
    // The host of a URL without a user may be an address in brackets.
    guard main.first != "[", let end = main.lastIndex(of: "@"), let colon = main[..<end].firstIndex(of: ":") else {
      return nil
    }
    return text.index(after: colon)..<end
  }

  /// Percent-encodes a user and a password that contain a `/` or an `@`, which would end them. All other texts remain
  /// unchanged.
  package static func encodingCredentials(of text: String) -> String {
    guard let password = passwordRange(in: text), let scheme = text.firstRange(of: "://") else { return text }
    let user = scheme.upperBound..<text.index(before: password.lowerBound)
    guard text[user.lowerBound..<password.upperBound].contains(where: { "/@".contains($0) }) else { return text }
    return text[..<user.lowerBound] + encoded(text[user]) + ":" + encoded(text[password]) + text[password.upperBound...]
  }

  /// Leaves what is percent-encoded already.
  private static func encoded(_ part: Substring) -> String {
    var result = ""
    var rest = part
    while let character = rest.first {
      if let token = rest.prefixMatch(of: /%[0-9A-Fa-f]{2}/) {
        result += token.output
        rest = rest[token.range.upperBound...]
      } else {
        result += String(character).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        rest = rest.dropFirst()
      }
    }
    return result
  }

  /// Removes the passwords from the URLs in a text.
  package static func withoutPasswords(_ text: String) -> String {
    text.replacing(/postgres(ql)?:\/\/[^\s']*/.ignoresCase()) { match in
      var url = String(match.output.0)
      // The colon before it, too.
      if let range = passwordRange(in: url) {
        url.removeSubrange(url.index(before: range.lowerBound)..<range.upperBound)
      }
      return url
    }
    .replacing(/([?&]([a-z_]+)=)[^\s&#']*/.ignoresCase()) { match in
      secrets.contains(match.output.2.lowercased()) ? "\(match.output.1)…" : String(match.output.0)
    }
  }
}

extension URL {
  /// The URL without a password, which a URL of a database server may contain; that of a file unchanged.
  package var withoutSecrets: URL {
    guard !isFileURL, var parts = URLComponents(string: ServerURL.encodingCredentials(of: absoluteString)) else {
      return self
    }
    parts.password = nil
    parts.queryItems = parts.queryItems?.filter { !ServerURL.secrets.contains($0.name) }
    return parts.url ?? self
  }
}
