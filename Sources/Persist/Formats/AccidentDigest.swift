/// A 128-bit digest that detects accidental differences, in a hundredth of the time of ``SHA256``.
///
/// It isn't a cryptographic one: whoever wants to can find another message with the same digest.
enum AccidentDigest {
  /// Odd numbers without a pattern: the first bits of the fractions of the golden ratio and of the roots of 2, 3, 5, 7.
  private static let factors: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
    0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B, 0xA54F_F53A_5F1D_36F1
  )

  /// Returns the 16-byte digest of a message, which is the same on every platform.
  static func digest(_ message: [UInt8]) -> [UInt8] {
    let factors = factors
    var first = UInt64(message.count) ^ factors.0
    var second = factors.4
    message.withUnsafeBytes { bytes in
      var place = 0
      while place < bytes.count {
        let word = word(of: bytes, at: place)
        first = mixed(first ^ word, factors.1)
        second = mixed((second &+ word) ^ (second &>> 29), factors.2)
        place += 8
      }
    }
    first = mixed(first ^ second, factors.3)
    second = mixed(second &+ first, factors.4)
    return [first, second].flatMap { word in withUnsafeBytes(of: word.littleEndian, Array.init) }
  }

  /// Eight bytes, or the remaining ones followed by zeros.
  private static func word(of bytes: UnsafeRawBufferPointer, at place: Int) -> UInt64 {
    if place + 8 <= bytes.count {
      return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
    return bytes[place...].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Multiplies, so that every bit affects all others.
  private static func mixed(_ value: UInt64, _ factor: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: factor)
    return product.high ^ product.low
  }
}
