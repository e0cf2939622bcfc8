import PersistTestSupport
import Testing

@testable import PersistCore

@Suite("Hashed lists")
struct HashedListTests {
  /// A key whose hashes collide.
  private struct Key: Hashable {
    let number: Int

    func hash(into hasher: inout Hasher) { hasher.combine(number % 3) }
  }

  @Test("Random changes leave the entries of a dictionary", .law("hashed-list", short: 40, long: 2000))
  func changes() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      var list = HashedList<Key, Int?>()
      var model: [Key: Int?] = [:]
      for step in 0..<200 {
        let key = Key(number: Int.random(in: 0..<12, using: &random))
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
          list[key] = .some(step)
          model[key] = .some(step)
        case 1:
          list[key] = .some(nil)
          model[key] = .some(nil)
        default:
          list[key] = nil
          model[key] = nil
        }
        #expect(list.count == model.count, "seed \(seed)")
        for number in 0..<12 { #expect(list[Key(number: number)] == model[Key(number: number)], "seed \(seed)") }
      }
    }
  }
}
