import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Work queues")
struct WorkQueueTests {
  @Test("Elements leave in the order in which they came", .law("work-queue", short: 40, long: 2000))
  func order() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      var queue = WorkQueue<Int>()
      var model: [Int] = []
      for number in 0..<300 {
        switch Int.random(in: 0..<9, using: &random) {
        case 0...3:
          queue.append(number)
          model.append(number)
        case 4:
          queue.removeAll { $0.isMultiple(of: 3) }
          model.removeAll { $0.isMultiple(of: 3) }
        default: #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()), "seed \(seed)")
        }
        #expect(queue.elements == model, "seed \(seed)")
        #expect(queue.count == model.count && queue.isEmpty == model.isEmpty, "seed \(seed)")
      }
    }
  }
}
