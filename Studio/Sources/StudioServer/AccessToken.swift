/// The secret that a browser has to present: only who started the program knows it.
package struct AccessToken: Sendable {
  /// The secret, in letters that need no escaping.
  package let text: String

  /// Creates a random secret of 192 bits.
  package init() {
    var generator = SystemRandomNumberGenerator()
    let digits = Array("0123456789abcdef")
    text = String((0..<48).map { _ in digits[Int.random(in: 0..<16, using: &generator)] })
  }

  /// Compares in a time that doesn't depend on the number of matching characters.
  func matches(_ other: String) -> Bool {
    let (own, others) = (Array(text.utf8), Array(other.utf8))
    guard own.count == others.count else { return false }
    return zip(own, others).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
