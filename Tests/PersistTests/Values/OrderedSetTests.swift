import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Ordered sets")
struct OrderedSetTests {
  /// An element whose hashes collide, as in a table whose places are next to each other.
  private struct Element: OrderedSetElement {
    let number: Int
    var placeNumber: UInt64 { UInt64(number % 7) }
  }

  @Test("Random changes leave the elements of an array without duplicates", .law("ordered-set", short: 60, long: 3000))
  func changes() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let range = Bool.random(using: &random) ? 0..<12 : 0..<90
      var set = OrderedSet<Element>()
      var model: [Element] = []
      for _ in 0..<200 {
        let element = Element(number: Int.random(in: range, using: &random))
        let index = model.firstIndex(of: element)
        switch Int.random(in: 0..<9, using: &random) {
        case 0...2:
          set.append(element)
          if index == nil { model.append(element) }
        case 3:
          let place = Int.random(in: 0...model.count, using: &random)
          set.insert(element, at: place)
          if index == nil { model.insert(element, at: place) }
        case 4, 5:
          #expect(set.remove(element) == (index == nil ? nil : element), "seed \(seed)")
          if let index { model.remove(at: index) }
        case 6 where model.count > 1:
          let (first, second) = (Int.random(in: model.indices, using: &random), model.count - 1)
          set.swapAt(first, second)
          model.swapAt(first, second)
        case 7 where !model.isEmpty:
          set.removeLast()
          model.removeLast()
        case 8:
          let other = Element(number: Int.random(in: range, using: &random))
          set.replace(element, with: other)
          if let index, element != other {
            if model.contains(other) { model.remove(at: index) } else { model[index] = other }
          }
        default: break
        }
        #expect(set.elements == model, "seed \(seed)")
        for number in range {
          let element = Element(number: number)
          #expect(set.firstIndex(of: element) == model.firstIndex(of: element), "seed \(seed)")
        }
      }
    }
  }

  @Test(
    "A set of an array has its elements in order of their first occurrence",
    .law("ordered-set-array", short: 60, long: 3000))
  func arrays() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let count = Int.random(in: 0..<40, using: &random)
      var elements = (0..<count).shuffled(using: &random).map { Element(number: $0) }
      for _ in 0..<Int.random(in: 0..<3, using: &random) {
        if let element = elements.randomElement(using: &random) { elements.append(element) }
      }
      var model: [Element] = []
      for element in elements where !model.contains(element) { model.append(element) }
      var set = OrderedSet(elements)
      #expect(set.elements == model, "seed \(seed)")
      set.append(Element(number: count))
      model.append(Element(number: count))
      for (index, element) in model.enumerated() { #expect(set.firstIndex(of: element) == index, "seed \(seed)") }
    }
  }

  @Test("Set operations keep the order of the elements", .law("ordered-set-operations", short: 60, long: 3000))
  func operations() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let (first, second) = (numbers(&random), numbers(&random))
      let (left, right) = (OrderedSet(first), OrderedSet(second))
      #expect(left.subtracting(right).elements == left.elements.filter { !second.contains($0) }, "seed \(seed)")
      #expect(left.intersection(right).elements == left.elements.filter { second.contains($0) }, "seed \(seed)")
      let union = left.elements + right.elements.filter { !first.contains($0) }
      #expect(left.union(right).elements == union, "seed \(seed)")
      #expect(left.isEqualSet(to: right) == (Set(first) == Set(second)), "seed \(seed)")
      #expect(left.isEqualSet(to: OrderedSet(left.elements.reversed())), "seed \(seed)")
    }
  }

  private func numbers(_ random: inout SeededRandom) -> [Int] {
    (0..<Int.random(in: 0..<40, using: &random)).map { _ in Int.random(in: 0..<25, using: &random) }
  }

  @Test("A copy doesn't change with the original")
  func copies() {
    var set = OrderedSet(0..<20)
    let copy = set
    set.remove(3)
    set.append(50)
    #expect(copy.elements == Array(0..<20))
    #expect(copy.contains(3) && !copy.contains(50))
  }
}

extension Int: OrderedSetElement {
  var placeNumber: UInt64 { UInt64(bitPattern: Int64(self)) }
}
