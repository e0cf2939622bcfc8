/// The header fields of every answer, which tell browsers what the content must not do.
enum SafeHeaders {
  /// Scripts come from the page's own files alone, and none can be made of a text.
  private static let pagePolicy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
    "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].joined(separator: "; ")

  /// Values of a store can do nothing at all, even when they are opened as a page of their own.
  private static let valuePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

  static func fields(isPage: Bool) -> [(name: String, value: String)] {
    [
      ("Content-Security-Policy", isPage ? pagePolicy : valuePolicy),
      ("X-Content-Type-Options", "nosniff"),
      ("Cache-Control", "no-store"),
      ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Opener-Policy", "same-origin"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
      ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
    ]
  }
}
