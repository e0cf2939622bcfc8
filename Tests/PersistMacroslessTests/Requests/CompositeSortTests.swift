import Foundation
import Persist
import PersistMacrosless
import Testing

private enum Grade: Int, StorableValue, CaseIterable, Codable { case low, middle, high }

private struct Inner: CompositeValue {
  var first = 0
  var second = 0
}

private struct Sizes: CompositeValue {
  var short: Int16 = 0
  var medium: Int32 = 0
  var long = 0
  var double = 0.0
  var float: Float = 0
  var decimal = Decimal(0)
  var text = ""
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var data = Data()
  var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var url: URL?
  var isOpen = false
  var grade = Grade.low
  var inner = Inner()
  var spare: Int?

  static func sample(_ number: Int) -> Sizes {
    let byte = UInt8(number)
    return Sizes(
      short: Int16(number - 2), medium: Int32(number - 2), long: number - 2, double: Double(number) / 3 - 1,
      float: Float(number) - 1.5, decimal: Decimal(number - 2), text: "\(number)",
      date: Date(timeIntervalSinceReferenceDate: Double(number - 2)), data: Data([byte]),
      uuid: UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), url: URL(string: "place:\(number)"),
      isOpen: number > 1, grade: Grade(rawValue: number % 3) ?? .low, inner: Inner(first: -number, second: number),
      spare: number == 0 ? nil : number)
  }
}

private final class Crate: ManagedObject {
  @Attribute var number = 0
  @Composite var sizes = Sizes()
  @Composite var other: Sizes?
  @Relationship(inverse: \Hall.crates) var hall: Hall?
}

private final class Hall: ManagedObject {
  @Composite var sizes = Sizes()
  @Relationship var crates: RelationshipSet<Crate>
}

@Suite("Sorting by parts of composite attributes")
struct CompositeSortTests {
  private typealias Part = PartialKeyPath<Crate> & Sendable

  /// Every part, with its path in the model.
  private static var parts: [(any Part, String)] {
    [
      (\.sizes.short, "sizes.short"), (\.sizes.medium, "sizes.medium"), (\.sizes.long, "sizes.long"),
      (\.sizes.double, "sizes.double"), (\.sizes.float, "sizes.float"), (\.sizes.decimal, "sizes.decimal"),
      (\.sizes.text, "sizes.text"), (\.sizes.date, "sizes.date"), (\.sizes.data, "sizes.data"),
      (\.sizes.uuid, "sizes.uuid"), (\.sizes.url, "sizes.url"), (\.sizes.isOpen, "sizes.isOpen"),
      (\.sizes.grade, "sizes.grade"), (\.sizes.inner.first, "sizes.inner.first"),
      (\.sizes.inner.second, "sizes.inner.second"), (\.sizes.spare, "sizes.spare"),
      (\.other?.long, "other.long"), (\.other?.inner.second, "other.inner.second"),
      (\.hall?.sizes.double, "hall.sizes.double"), (\.hall?.sizes.inner.first, "hall.sizes.inner.first"),
    ]
  }

  private func withCrates(_ body: (ManagedObjectContext) throws -> Void) throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Crate.self, Hall.self))
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    for number in [3, 0, 4, 2, 1] {
      let crate = Crate(context: context)
      crate.number = number
      crate.sizes = .sample(number)
      if number > 0 { crate.other = .sample(number) }
      if number > 1 {
        let hall = Hall(context: context)
        hall.sizes = .sample(number)
        crate.hall = hall
      }
      // The last one remains unsaved.
      if number == 2 { try context.save() }
    }
    try body(context)
  }

  @Test("A sortable part of any type sorts, in both directions, like its path as text", arguments: 0..<20)
  func everyType(index: Int) throws {
    let (keyPath, path) = Self.parts[index]
    try withCrates { context in
      for isAscending in [true, false] {
        let request = Crate.sorted(by: keyPath, ascending: isAscending).sorted(by: \.number)
        #expect(request.sortDescriptors.first?.key == path)
        var inWords = Crate.all
        inWords.sortDescriptors = [FetchSortDescriptor(path, isAscending: isAscending), FetchSortDescriptor("number")]
        let numbers = try context.fetch(request).map(\.number)
        #expect(numbers.count == 5)
        try #expect(numbers == context.fetch(inWords).map(\.number))
      }
    }
  }

  @Test("Crates are in the order of the part's values")
  func values() throws {
    try withCrates { context in
      try #expect(context.fetch(Crate.sorted(by: \.sizes.long)).map(\.number) == [0, 1, 2, 3, 4])
      try #expect(context.fetch(Crate.sorted(by: \.sizes.inner.first)).map(\.number) == [4, 3, 2, 1, 0])
      try #expect(context.fetch(Crate.sorted(by: \.other?.double, ascending: false)).map(\.number) == [4, 3, 2, 1, 0])
    }
  }

  @Test("A value computed from a part, or from several, stops the program with a message")
  func computed() async {
    let magnitude = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Crate.sorted(by: \.sizes.double.magnitude)
    }
    #expect(magnitude?.says("doesn't lead to a property that Crate") == true)
    let count = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Crate.sorted(by: \.sizes.text.count)
    }
    #expect(count?.says("doesn't lead to a property that Crate") == true)
    let whole = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Crate.sorted(by: \.sizes.inner)
    }
    #expect(whole?.says("doesn't lead to a property that Crate") == true)
  }
}
