import PersistTestSupport
import Testing

@testable import Persist

@Suite("Digests against accidents")
struct AccidentDigestTests {
  private func message(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) } }

  @Test("A digest is the same on every platform, because stores contain it")
  func stable() {
    func hex(_ bytes: [UInt8]) -> String {
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    #expect(hex(AccidentDigest.digest([])) == "a4ef19c3e1b23bf2f9fc7eb998b8eb74")
    #expect(hex(AccidentDigest.digest(message(100))) == "0b970ee91a782c0580a0055c4d570b50")
  }

  @Test("Every changed bit, zeros at the end and exchanged words result in another digest")
  func changes() {
    var digests: Set<[UInt8]> = []
    var count = 0
    for length in [0, 1, 7, 8, 9, 16, 63, 64, 200] {
      let message = message(length)
      digests.insert(AccidentDigest.digest(message))
      for zeros in 1...9 { digests.insert(AccidentDigest.digest(message + Array(repeating: 0, count: zeros))) }
      count += 10
      for bit in 0..<(length * 8) {
        var changed = message
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        digests.insert(AccidentDigest.digest(changed))
        count += 1
      }
      if length >= 16 {
        digests.insert(AccidentDigest.digest(Array(message[8..<16] + message[..<8] + message[16...])))
        count += 1
      }
    }
    #expect(digests.count == count)
    #expect(digests.allSatisfy { $0.count == 16 })
  }
}
