import Foundation
import Persist
import PersistMacrosless
import PropertyClasses

// What a declared property costs, from another module: reading and writing it, making objects, and their size. Each
// figure is the best of several rounds; ratios are within one run.

let clock = ContinuousClock()

func nanoseconds(per count: Int, rounds: Int = 7, _ work: () throws -> Void) rethrows -> Double {
  var best = Double.infinity
  for _ in 0..<rounds {
    let time = try clock.measure(work)
    let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
    best = min(best, seconds * 1e9 / Double(count))
  }
  return best
}

func line(_ name: String, _ value: Double, _ base: (name: String, value: Double)? = nil) {
  let padded = name.padding(toLength: 42, withPad: " ", startingAt: 0)
  let ratio = base.map { String(format: "  %5.2f × %@", value / $0.value, $0.name) } ?? ""
  print(padded + String(format: "%8.2f ns", value) + ratio)
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

// Writing alone, and writing with reading what was written: the difference is reading, which nothing can take out of
// the loop.
@inline(never) func write(_ item: WrappedItem, _ count: Int) { for i in 0..<count { item.quantity = i } }
@inline(never) func write(_ item: GeneratedItem, _ count: Int) { for i in 0..<count { item.quantity = Int64(i) } }
@inline(never) func write(_ item: PlainItem, _ count: Int) { for i in 0..<count { item.writeQuantity(i) } }
@inline(never) func read(_ items: [WrappedItem], _ rounds: Int) -> Int {
  var sum = 0
  for _ in 0..<rounds { for item in items { sum &+= item.quantity } }
  return sum
}
@inline(never) func read(_ items: [GeneratedItem], _ rounds: Int) -> Int {
  var sum = 0
  for _ in 0..<rounds { for item in items { sum &+= Int(item.quantity) } }
  return sum
}
@inline(never) func read(_ items: [PlainItem], _ rounds: Int) -> Int {
  var sum = 0
  for _ in 0..<rounds { for item in items { sum &+= item.readQuantity() } }
  return sum
}

let count = 5_000_000
let objects = 100
var checksum = 0

let wrappedContext = try makeContext()
let generatedContext = try otherContext(GeneratedItem.self)
let wrapped = (0..<objects).map { _ in WrappedItem(context: wrappedContext) }
let generated = (0..<objects).map { _ in GeneratedItem(context: generatedContext) }
let plain = (0..<objects).map { _ in PlainItem() }

let plainGet = nanoseconds(per: count) { checksum &+= read(plain, count / objects) }
let generatedGet = nanoseconds(per: count) { checksum &+= read(generated, count / objects) }
let wrappedGet = nanoseconds(per: count) { checksum &+= read(wrapped, count / objects) }
line("get: a call that reads a stored property", plainGet)
line("get: constant slot, new object", generatedGet, ("a call", plainGet))
line("get: wrapper, new object", wrappedGet, ("a call", plainGet))
line("get: wrapper over constant slot", wrappedGet, ("constant slot", generatedGet))

let plainSet = nanoseconds(per: count) { write(plain[0], count) }
let generatedSet = nanoseconds(per: count) { write(generated[0], count) }
let wrappedSet = nanoseconds(per: count) { write(wrapped[0], count) }
line("set: a call that writes a stored property", plainSet)
line("set: constant slot", generatedSet, ("a call", plainSet))
line("set: wrapper", wrappedSet, ("a call", plainSet))
line("set: wrapper over constant slot", wrappedSet, ("constant slot", generatedSet))

try wrappedContext.save()
try generatedContext.save()
let savedGeneratedGet = nanoseconds(per: count) { checksum &+= read(generated, count / objects) }
let savedWrappedGet = nanoseconds(per: count) { checksum &+= read(wrapped, count / objects) }
line("get: constant slot, saved object", savedGeneratedGet, ("a call", plainGet))
line("get: wrapper, saved object", savedWrappedGet, ("a call", plainGet))

let made = 50_000
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
line("create: eight wrappers", wrappedCreate, ("stored", storedCreate))
print("bytes per declared property: \(MemoryLayout<Attribute<String>>.stride)  (\(checksum & 1))")
