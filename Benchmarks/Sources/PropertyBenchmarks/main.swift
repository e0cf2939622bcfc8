import Foundation
import Persist
import PersistMacrosless
import PropertyClasses

// The cost of a declared property, from another module: reading and writing it, creating objects, and their size. Each
// figure is the best of several rounds; ratios are within one run.

let clock = ContinuousClock()

func nanoseconds(per count: Int, rounds: Int = 41, _ work: () throws -> Void) rethrows -> Double {
  var best = Double.infinity
  for _ in 0..<rounds {
    let time = try clock.measure(work)
    let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    best = min(best, seconds * 1e9 / Double(count))
  }
  return best
}

/// Prints a figure, its ratio to another one of the same run, and the maximum for the ratio.
func line(_ name: String, _ value: Double, _ base: (name: String, value: Double, target: Double)? = nil) {
  let padded = name.padding(toLength: 42, withPad: " ", startingAt: 0)
  let ratio = base.map { base in
    let ratio = value / base.value
    let verdict = ratio <= base.target ? "" : "  above"
    return String(format: "  %5.2f × ", ratio) + "\(base.name), target \(base.target)" + verdict
  }
  print(padded + String(format: "%8.2f ns", value) + (ratio ?? ""))
}

func makeContext() throws -> ManagedObjectContext {
  let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(WrappedItem.self))
  try coordinator.addInMemoryStore()
  return ManagedObjectContext(coordinator)
}

func otherContext(_ type: ManagedObject.Type) throws -> ManagedObjectContext {
  let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(WrappedItem.self))
  try coordinator.addInMemoryStore()
  return ManagedObjectContext(coordinator, classes: ["WrappedItem": type])
}

// Writing alone, and writing followed by reading the written value: the difference is reading, which the optimizer
// can't remove from the loop.
@inline(never) func write(_ item: WrappedItem, _ count: Int) { for i in 0..<count { item.quantity = i } }
@inline(never) func write(_ item: GeneratedItem, _ count: Int) {
  for i in 0..<count { item.quantity = Int32(truncatingIfNeeded: i) }
}
@inline(never) func write(_ item: HandWrittenItem, _ count: Int) { for i in 0..<count { item.quantity = Int64(i) } }
@inline(never) func write(_ item: PlainItem, _ count: Int) { for i in 0..<count { item.writeQuantity(i) } }

// Reading objects doesn't retain them: retaining and releasing each costs several times as much as the measured work.
@inline(never) func read(_ items: [Unmanaged<WrappedItem>], _ rounds: Int) -> Int {
  var sum = 0
  for _ in 0..<rounds { for item in items { sum &+= item._withUnsafeGuaranteedRef { $0.quantity } } }
  return sum
}
@inline(never) func read(_ items: [Unmanaged<GeneratedItem>], _ rounds: Int) -> Int {
  var sum = 0
  for _ in 0..<rounds { for item in items { sum &+= item._withUnsafeGuaranteedRef { Int($0.quantity) } } }
  return sum
}
@inline(never) func read(_ items: [Unmanaged<HandWrittenItem>], _ rounds: Int) -> Int {
  var sum = 0
  for _ in 0..<rounds { for item in items { sum &+= item._withUnsafeGuaranteedRef { Int($0.quantity) } } }
  return sum
}
@inline(never) func read(_ items: [Unmanaged<PlainItem>], _ rounds: Int) -> Int {
  var sum = 0
  for _ in 0..<rounds { for item in items { sum &+= item._withUnsafeGuaranteedRef { $0.readQuantity() } } }
  return sum
}

let count = 500_000
let objects = 100
var checksum = 0

let wrappedContext = try makeContext()
let generatedContext = try otherContext(GeneratedItem.self)
let handContext = try otherContext(HandWrittenItem.self)
let hand = (0..<objects).map { _ in HandWrittenItem(context: handContext) }
let wrapped = (0..<objects).map { _ in WrappedItem(context: wrappedContext) }
let generated = (0..<objects).map { _ in GeneratedItem(context: generatedContext) }
let plain = (0..<objects).map { _ in PlainItem() }

let plainReferences = plain.map(Unmanaged.passUnretained)
let handReferences = hand.map(Unmanaged.passUnretained)
let generatedReferences = generated.map(Unmanaged.passUnretained)
let wrappedReferences = wrapped.map(Unmanaged.passUnretained)

let plainGet = nanoseconds(per: count) { checksum &+= read(plainReferences, count / objects) }
let handGet = nanoseconds(per: count) { checksum &+= read(handReferences, count / objects) }
let generatedGet = nanoseconds(per: count) { checksum &+= read(generatedReferences, count / objects) }
let wrappedGet = nanoseconds(per: count) { checksum &+= read(wrappedReferences, count / objects) }
line("get: a call that reads a stored property", plainGet)
line("get: computed by hand, new object", handGet)
line("get: generated, new object", generatedGet, ("by hand", handGet, 1.5))
line("get: wrapper, new object", wrappedGet, ("a call", plainGet, 1.5))

let plainSet = nanoseconds(per: count) { write(plain[0], count) }
let handSet = nanoseconds(per: count) { write(hand[0], count) }
let generatedSet = nanoseconds(per: count) { write(generated[0], count) }
let wrappedSet = nanoseconds(per: count) { write(wrapped[0], count) }
line("set: a call that writes a stored property", plainSet)
line("set: computed by hand", handSet)
line("set: generated", generatedSet, ("by hand", handSet, 1.5))
line("set: wrapper", wrappedSet, ("a call", plainSet, 1.5))

for context in [wrappedContext, generatedContext, handContext] { try context.save() }
let savedHandGet = nanoseconds(per: count) { checksum &+= read(handReferences, count / objects) }
let savedGeneratedGet = nanoseconds(per: count) { checksum &+= read(generatedReferences, count / objects) }
let savedWrappedGet = nanoseconds(per: count) { checksum &+= read(wrappedReferences, count / objects) }
line("get: computed by hand, saved object", savedHandGet)
line("get: generated, saved object", savedGeneratedGet, ("by hand", savedHandGet, 1.5))
line("get: wrapper, saved object", savedWrappedGet, ("a call", plainGet, 1.5))

let made = 10_000
let storedCreate = try nanoseconds(per: made) {
  let context = try otherContext(StoredItem.self)
  var kept: [StoredItem] = []
  kept.reserveCapacity(made)
  for _ in 0..<made { kept.append(StoredItem(context: context)) }
  checksum &+= kept.count
}
let wrappedCreate = try nanoseconds(per: made) {
  let context = try makeContext()
  var kept: [WrappedItem] = []
  kept.reserveCapacity(made)
  for _ in 0..<made { kept.append(WrappedItem(context: context)) }
  checksum &+= kept.count
}
line("create: eight stored properties", storedCreate)
line("create: eight wrappers", wrappedCreate, ("stored", storedCreate, 2))
print("bytes per declared property: \(MemoryLayout<Attribute<String>>.stride), target 8  (\(checksum & 1))")
