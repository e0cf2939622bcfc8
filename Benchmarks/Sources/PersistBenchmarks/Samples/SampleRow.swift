import Foundation

/// The row that the workloads write and read: two integers, a date, a double, three texts and sixteen bytes.
struct SampleRow {
  var quantity: Int64
  var rank: Int64
  var addedAt: Double
  var price: Double
  var code: String
  var name: String
  var note: String
  var token: UUID

  /// Creates the row with a number: always the same values, with texts of 12 to 40 characters.
  init(_ number: Int) {
    var random = SplitMix(state: UInt64(number) &+ 1)
    quantity = Int64(random.next() % 100)
    rank = Int64(bitPattern: random.next() >> 1)
    addedAt = Double(number) + 0.25
    price = Double(random.next() % 100_000) / 100
    code = "code-" + Self.text(&random, 8)
    name = "name " + Self.text(&random, 8 + Int(random.next() % 16))
    note = Self.text(&random, 24 + Int(random.next() % 16))
    let (a, b) = (random.next(), random.next())
    token = withUnsafeBytes(of: (a, b)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// The first rows, created before the measurement.
  static func rows(_ count: Int) -> [SampleRow] { (0..<count).map { SampleRow($0) } }

  private static func text(_ random: inout SplitMix, _ count: Int) -> String {
    var bits: UInt64 = 0
    return String(
      decoding: (0..<count).map { index in
        if index % 12 == 0 { bits = random.next() }
        defer { bits >>= 5 }
        return UInt8(ascii: "a") + UInt8(bits & 31) % 26
      }, as: UTF8.self)
  }
}

/// A small random number generator with a fixed seed.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}

/// An order-independent checksum of rows, so that contestants may read in any order.
struct Checksum {
  private(set) var value: UInt64 = 0

  mutating func add(_ quantity: Int64, _ rank: Int64, _ addedAt: Double, _ price: Double) {
    value &+= UInt64(bitPattern: quantity) &* 3 &+ UInt64(bitPattern: rank)
    value &+= addedAt.bitPattern &* 5 &+ price.bitPattern
  }

  mutating func add(_ text: String) {
    value &+= UInt64(text.utf8.count) &* 31 &+ UInt64(text.utf8.first ?? 0)
  }

  mutating func add(_ uuid: UUID) {
    value &+= withUnsafeBytes(of: uuid.uuid) { $0.loadUnaligned(as: UInt64.self) }
  }

  mutating func add(count: Int) { value &+= UInt64(count) }
}
