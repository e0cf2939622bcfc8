package import Foundation

/// A 128-bit digest that detects accidental differences, in a hundredth of the time of ``SHA256``.
///
/// Its parts are combined one by one, without a copy of the complete message. It isn't a cryptographic digest: whoever
/// wants to can find other parts with the same digest.
package struct AccidentDigest {
  /// Odd numbers without a pattern: the first bits of the fractions of the golden ratio and of the roots of 2, 3, 5, 7.
  private static let factors: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
    0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909, 0xBB67_AE85_84CA_A73B, 0x3C6E_F372_FE94_F82B, 0xA54F_F53A_5F1D_36F1
  )
  private var first = Self.factors.0
  private var second = Self.factors.4

  package init() {}

  package mutating func combine(_ number: Int64) { combine(UInt64(bitPattern: number)) }

  /// Combines a text and its length, so that adjacent texts can't be confused.
  @inline(never)
  package mutating func combine(_ text: String) {
    var text = text
    text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
  }

  /// Combines data and their length.
  package mutating func combine(_ data: Data) { data.withUnsafeBytes { combine($0) } }

  /// The 16-byte digest of the combined parts, which is the same on every platform.
  package var bytes: [UInt8] {
    let last = Self.mixed(first ^ second, Self.factors.3)
    return [last, Self.mixed(second &+ last, Self.factors.4)].flatMap { word in
      withUnsafeBytes(of: word.littleEndian, Array.init)
    }
  }

  private mutating func combine(_ bytes: UnsafeRawBufferPointer) {
    combine(UInt64(bytes.count))
    var place = 0
    while place + 8 <= bytes.count {
      combine(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
      place += 8
    }
    guard place < bytes.count else { return }
    // The remaining bytes, followed by zeros.
    var word: UInt64 = 0
    for index in stride(from: bytes.count - 1, through: place, by: -1) { word = word << 8 | UInt64(bytes[index]) }
    combine(word)
  }

  private mutating func combine(_ word: UInt64) {
    first = Self.mixed(first ^ word, Self.factors.1)
    second = Self.mixed((second &+ word) ^ (second &>> 29), Self.factors.2)
  }

  /// Multiplies, so that every bit affects all others.
  private static func mixed(_ value: UInt64, _ factor: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: factor)
    return product.high ^ product.low
  }
}
