/// The text of a format string as scalars, and errors with positions in it.
struct FormatSource: Sendable {
  let text: String
  let scalars: [Unicode.Scalar]

  init(_ text: String) {
    self.text = text
    scalars = Array(text.unicodeScalars)
  }

  /// - Parameter offset: The position of the error, in Unicode scalars from 0.
  func error(at offset: Int, _ message: String, fix: String? = nil) -> PersistenceError {
    var before = String.UnicodeScalarView()
    before.append(contentsOf: scalars.prefix(offset))
    let excerpt = text.count > 200 ? text.prefix(200) + "…" : text[...]
    return PersistenceError(
      .invalidPredicate, at: PersistenceError.Place(column: String(before).count + 1),
      "\(message) The format is: \(excerpt)", fix: fix)
  }
}
