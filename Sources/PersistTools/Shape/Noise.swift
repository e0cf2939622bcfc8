import Foundation
import Persist

/// Replaces values by noise of the same kind and length.
///
/// Equal values become equal noise and different values different noise, in all columns, so that uniqueness and joins
/// over values are preserved. The noise depends on a random key that is never written anywhere; without it, the
/// original values can't be computed or tested for.
///
/// | value | noise |
/// |---|---|
/// | null, Booleans, 0, 1, −1 | the same |
/// | integer | one with the same sign and number of bits, on the same side of every limit in the models |
/// | number, date | one with the same sign and exponent, whole if it was whole |
/// | decimal | one with as many digits before and after the point |
/// | text | one with as many characters of the same kinds; punctuation and spaces remain |
/// | bytes | as many others |
struct Noise {
  private let key: [UInt8]
  private let numberKey: UInt64
  /// Limits of values in the models, sorted: a value doesn't cross them.
  private let limits: [Double]
  /// Texts of the models, which remain.
  private let kept: Set<String>
  /// The digest of the value that each noise of a small space stands for.
  private var owners: [UInt64: UInt64] = [:]

  init(limits: [Double] = [], kept: Set<String> = []) {
    var generator = SystemRandomNumberGenerator()
    key = (0..<4).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
    numberKey = generator.next()
    self.limits = Set(limits).sorted()
    self.kept = kept
  }

  /// The noise of a text or of bytes, before it is written out: a number that equal contents share.
  func seed(_ bytes: some Sequence<UInt8>, attempt: UInt8 = 0) -> UInt64 {
    SHA256.digest(key + [attempt] + bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  // MARK: Texts

  /// Texts of at least this many characters are different with near certainty, without being compared.
  private static let longText = 12

  mutating func text(_ text: String) -> String {
    if text.isEmpty || kept.contains(text) { return text }
    let scalars = Array(text.unicodeScalars)
    guard scalars.count < Self.longText else { return NoiseText.text(like: scalars, seed: seed(text.utf8)) }
    let own = seed(text.utf8)
    for attempt in 0..<UInt8.max {
      // After many attempts there may be no unused text of the same kinds of characters.
      let noise = NoiseText.text(
        like: attempt < 200 ? scalars : scalars.map { _ in NoiseText.widest }, seed: seed(text.utf8, attempt: attempt))
      if claim(seed(noise.utf8, attempt: 1), for: own) { return noise }
    }
    return NoiseText.text(like: scalars, seed: own)
  }

  /// Whether a noise belongs to a value, or to none so far.
  private mutating func claim(_ noise: UInt64, for value: UInt64) -> Bool {
    if let owner = owners[noise] { return owner == value }
    owners[noise] = value
    return true
  }

  // MARK: Bytes

  /// The number from which ``NoiseText/bytes(count:seed:)`` makes the noise of some bytes.
  mutating func seedOfBytes(_ bytes: Data) -> UInt64 {
    let own = seed(bytes)
    guard bytes.count < 8 else { return own }
    for attempt in 0..<UInt8.max {
      let candidate = seed(bytes, attempt: attempt)
      let noise = NoiseText.bytes(count: bytes.count, seed: candidate)
      if claim(seed(noise, attempt: 2), for: own) { return candidate }
    }
    return own
  }

  // MARK: Numbers

  func integer(_ value: Int64) -> Int64 {
    let size = value.magnitude
    // The extremes of the types remain: their neighbors have other types.
    guard size > 1, size.nonzeroBitCount > 1 || value > 0, size <= UInt64(Int64.max) else { return value }
    let lowest = UInt64(1) << (63 - UInt64(size.leadingZeroBitCount))
    return walk(from: value) { current in
      let other = lowest + permuted(current.magnitude - lowest, below: lowest)
      return value < 0 ? -Int64(other) : Int64(other)
    } side: { side(of: Double($0)) }
  }

  func double(_ value: Double) -> Double {
    guard value.isFinite, value != 0 else { return value }
    if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return Double(integer(whole)) }
    return walk(from: value) { current in
      let bits = current.bitPattern
      let mantissa: UInt64 = (1 << 52) - 1
      return Double(bitPattern: bits & ~mantissa | permuted(bits & mantissa, below: 1 << 52))
    } side: { side(of: $0) }
  }

  /// The noise of a decimal, written with digits and perhaps a point and an exponent.
  func decimal(_ text: String) -> String {
    let zero = UInt8(ascii: "0")
    var bytes = Array(text.utf8)
    let end = bytes.firstIndex { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") } ?? bytes.count
    let places = (0..<end).filter { bytes[$0] >= zero && bytes[$0] <= UInt8(ascii: "9") }.drop { bytes[$0] == zero }
    guard places.count > 1, places.count < 19 else { return text }
    var value: UInt64 = 0
    var lowest: UInt64 = 1
    for place in places { value = value * 10 + UInt64(bytes[place] - zero) }
    for _ in places.dropFirst() { lowest *= 10 }
    var noise = lowest + permuted(value - lowest, below: lowest * 9)
    for place in places.reversed() {
      bytes[place] = zero + UInt8(noise % 10)
      noise /= 10
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Applies a permutation until the result is on the same side of all limits as the value.
  private func walk<Value: Equatable>(
    from value: Value, _ next: (Value) -> Value, side: (Value) -> Int
  ) -> Value {
    let wanted = side(value)
    var current = next(value)
    // Few values may be on the same side of a limit, so the search is bounded.
    for _ in 0..<10_000 {
      if side(current) == wanted { return current }
      current = next(current)
    }
    return current
  }

  /// The number of limits below a value, twice, and one more on a limit.
  private func side(of value: Double) -> Int {
    limits.reduce(0) { $0 + ($1 < value ? 2 : $1 == value ? 1 : 0) }
  }

  /// A permutation of the numbers below a bound: a Feistel network over the next even number of bits, repeated until
  /// the result is below the bound.
  private func permuted(_ value: UInt64, below bound: UInt64) -> UInt64 {
    guard bound > 1 else { return value }
    let bits = UInt64(64 - (bound - 1).leadingZeroBitCount + 1) / 2
    let mask: UInt64 = (1 << bits) - 1
    var result = value
    repeat {
      var (left, right) = (result >> bits, result & mask)
      for round in 0..<6 as Range<UInt64> {
        var generator = SeededGenerator(seed: numberKey ^ (right &* 31 &+ round) ^ bound.byteSwapped)
        (left, right) = (right, left ^ (generator.next() & mask))
      }
      result = left << bits | right
    } while result >= bound
    return result
  }
}

/// Writes noise out.
enum NoiseText {
  static let widest: Unicode.Scalar = "\u{4E00}"

  /// A text with characters of the same kinds as others.
  static func text(like scalars: [Unicode.Scalar], seed: UInt64) -> String {
    var generator = SeededGenerator(seed: seed)
    var text = String.UnicodeScalarView()
    for scalar in scalars { text.append(noise(like: scalar, &generator)) }
    return String(text)
  }

  private static func noise(like scalar: Unicode.Scalar, _ generator: inout SeededGenerator) -> Unicode.Scalar {
    let range: ClosedRange<UInt32> =
      switch scalar.value {
      case 0x30...0x39: 0x30...0x39
      case 0x41...0x5A: 0x41...0x5A
      case 0x61...0x7A: 0x61...0x7A
      case 0..<0x80: scalar.value...scalar.value
      default:
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark, .format, .spaceSeparator: scalar.value...scalar.value
        default:
          switch scalar.value {
          case 0..<0x800: 0x430...0x44F
          case 0x800..<0x10000: 0x4E00...0x9FA5
          default: 0x1F600...0x1F64F
          }
        }
      }
    return Unicode.Scalar(range.lowerBound + UInt32(generator.next() % UInt64(range.count))) ?? scalar
  }

  /// A text of lower-case letters and spaces.
  static func text(count: Int, seed: UInt64) -> String {
    var generator = SeededGenerator(seed: seed)
    let bytes = (0..<count).map { _ -> UInt8 in
      let number = generator.next() % 31
      return number < 26 ? 0x61 + UInt8(number) : 0x20
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func bytes(count: Int, seed: UInt64) -> Data {
    var generator = SeededGenerator(seed: seed)
    var data = Data(capacity: count)
    while data.count < count {
      withUnsafeBytes(of: generator.next().littleEndian) { data.append(contentsOf: $0.prefix(count - data.count)) }
    }
    return data
  }
}
