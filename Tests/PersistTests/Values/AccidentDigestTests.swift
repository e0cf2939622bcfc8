import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Digests against accidents")
struct AccidentDigestTests {
  private func message(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) } }

  private func digest(_ parts: [UInt8]...) -> [UInt8] {
    var digest = AccidentDigest()
    for part in parts { digest.combine(Data(part)) }
    return digest.bytes
  }

  @Test("A digest is the same on every platform, because stores contain it")
  func stable() {
    func hex(_ bytes: [UInt8]) -> String {
      bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    #expect(hex(AccidentDigest().bytes) == "a4ef19c3e1b23bf2f9fc7eb998b8eb74")
    #expect(hex(digest(message(100))) == "5dbfc8be73b887e1c9b83b58921cc5f9")
  }

  @Test("Every changed bit, zeros at the end and exchanged words result in another digest")
  func changes() {
    var digests: Set<[UInt8]> = []
    var count = 0
    for length in [0, 1, 7, 8, 9, 16, 63, 64, 200] {
      let message = message(length)
      digests.insert(digest(message))
      for zeros in 1...9 { digests.insert(digest(message + Array(repeating: 0, count: zeros))) }
      count += 10
      for bit in 0..<(length * 8) {
        var changed = message
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        digests.insert(digest(changed))
        count += 1
      }
      if length >= 16 {
        digests.insert(digest(Array(message[8..<16] + message[..<8] + message[16...])))
        count += 1
      }
    }
    #expect(digests.count == count)
    #expect(digests.allSatisfy { $0.count == 16 })
  }

  @Test("A message divided into parts at another place results in another digest")
  func parts() {
    let message = message(40)
    let digests = (0...40).map { digest(Array(message[..<$0]), Array(message[$0...])) }
    #expect(Set(digests + [digest(message)]).count == 42)
  }

  @Test("A text has the digest of its UTF-8, and a number that of its value")
  func kinds() {
    var text = AccidentDigest()
    text.combine("Größe, a longer text")
    #expect(text.bytes == digest(Array("Größe, a longer text".utf8)))
    let numbers = [0, 1, -1, .max, .min].map { (number: Int64) in
      var digest = AccidentDigest()
      digest.combine(number)
      return digest.bytes
    }
    #expect(Set(numbers).count == 5)
  }
}
