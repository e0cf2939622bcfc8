import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

@Suite("Foundation's sort orders")
struct FoundationSortTests {
  private func withGoods(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withTemporaryStore { store in
      let context = try Shop.context(store)
      try Shop.fill(context)
      try body(context)
      try context.save()
      try body(context)
    }
  }

  private let goods = FetchRequest<Good>("Good")

  @Test("Sort descriptors sort results like objects in memory, saved or not")
  func descriptors() throws {
    let orders: [[SortDescriptor<Good>]] = [
      [SortDescriptor(\.name)], [SortDescriptor(\.name, order: .reverse)],
      [SortDescriptor(\.grade), SortDescriptor(\.quantity, order: .reverse)],
      [SortDescriptor(\.price), SortDescriptor(\.name)], [SortDescriptor(\.madeAt, order: .reverse)],
      [SortDescriptor(\.shelf?.name), SortDescriptor(\.name, comparator: .lexical)],
      [SortDescriptor(\.labels.count, order: .reverse), SortDescriptor(\.name)],
    ]
    try withGoods { context in
      let all = try context.fetch(goods)
      for order in orders {
        let found = try context.fetch(goods.sorted(using: order)).map(\.name)
        #expect(found == all.sorted(using: order).map(\.name), "\(order)")
      }
    }
  }

  @Test("Comparators of key paths sort results like objects in memory")
  func comparators() throws {
    let orders: [KeyPathComparator<Good>] = [
      KeyPathComparator(\.name, order: .reverse), KeyPathComparator(\.quantity), KeyPathComparator(\.madeAt),
      KeyPathComparator(\.name, comparator: String.StandardComparator.lexical, order: .reverse),
      KeyPathComparator(\.name, comparator: String.Comparator(options: .caseInsensitive)),
    ]
    try withGoods { context in
      let all = try context.fetch(goods)
      for order in orders {
        let found = try context.fetch(goods.sorted(using: [order])).map(\.name)
        #expect(found == all.sorted(using: order).map(\.name), "\(order)")
      }
    }
  }

  @Test("A custom comparator is refused when the request is created")
  func ownComparator() throws {
    struct ByLastDigit: SortComparator {
      var order = SortOrder.forward
      func compare(_ left: Int, _ right: Int) -> ComparisonResult {
        left % 10 < right % 10 ? .orderedAscending : left % 10 == right % 10 ? .orderedSame : .orderedDescending
      }
    }
    let comparator = KeyPathComparator(\Good.quantity, comparator: ByLastDigit())
    let error = #expect(throws: PersistenceError.self) { try goods.sorted(using: [comparator]) }
    #expect(error?.code == .invalidRequest && error?.message.contains("custom comparator") == true)
  }

  @Test("Values with a custom order are refused when the request is created")
  func ownOrder() throws {
    let error = #expect(throws: PersistenceError.self) { try goods.sorted(using: SortDescriptor(\Good.size)) }
    #expect(error?.code == .invalidRequest && error?.message.contains("Size") == true)
  }

  @Test("A key path that computes its value is refused when its names are resolved")
  func computed() throws {
    try withGoods { context in
      let request = try goods.sorted(using: SortDescriptor(\Good.name.count))
      #expect(throws: PersistenceError.self) { try context.fetch(request) }
    }
  }

  @Test("Rows of values and groups are sorted by descriptors too, and contain the values of key paths")
  func rows() throws {
    try withGoods { context in
      try context.save()
      var request = try goods.rows(of: \.name).sorted(using: SortDescriptor(\Good.name, order: .reverse))
      request.propertiesToFetch.append(ExpressionDescription("worth", TypedExpression(\Good.quantity) * 2))
      let rows = try context.fetch(request)
      #expect(rows.map { $0["name"] as? String } == ["Tea", "Salt", "Coffee", "Bread"])
      #expect(rows.map { $0["worth"] as? Int } == [6, 200, 24, 4])
      let groups = try context.fetch(
        goods.grouped(by: \.shelf?.name, computing: .sum(of: \Good.quantity, as: "total"), .count(as: "goods"))
          .sorted(using: SortDescriptor(\Good.shelf?.name)))
      #expect(groups.map { $0["shelf.name"] as? String } == [nil, "Drinks", "Food"])
      #expect(groups.map { $0["total"] as? Int } == [100, 15, 2])
      #expect(groups.map { $0["goods"] as? Int } == [1, 2, 1])
    }
  }

  @Test("Batches accept key paths in their predicates and assignments")
  func batches() throws {
    try withGoods { context in
      try context.save()
      let cheap: TypedPredicate<Good> = \.quantity < 5
      let update = BatchUpdateRequest(
        "Good", where: cheap.predicate, set: ["reserved": .keyPath(\Good.quantity), "note": .value("few")])
      #expect(try context.execute(update).count == 2)
      let few = try context.fetch(goods.where(\.note == "few").sorted(by: \.name))
      #expect(few.map(\.name) == ["Bread", "Tea"])
      context.refreshAllObjects()
      #expect(few.map(\.reserved) == [2, 3])
    }
  }
}

private enum Size: Int, Comparable {
  case small, large
  static func < (left: Size, right: Size) -> Bool { left.rawValue > right.rawValue }
}

extension Good {
  fileprivate var size: Size { quantity > 10 ? .large : .small }
}
