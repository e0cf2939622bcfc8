import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import ShopClasses
import Testing

@Suite("Typed requests")
struct TypedRequestTests {
  private func context(_ store: URL) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ShopModel.current())
    try coordinator.addStore(at: store)
    return ManagedObjectContext(coordinator)
  }

  private func withItems(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withTemporaryStore { store in
      do {
        let context = try context(store)
        let (drinks, food) = (Category(context: context), Category(context: context))
        (drinks.name, food.name) = ("Drinks", "Food")
        let all: [(String, Int, Category)] = [("Tea", 2, drinks), ("Milk", 9, drinks), ("Bread", 4, food)]
        for (name, quantity, category) in all {
          let item = Item(context: context)
          (item.name, item.quantity, item.category) = (name, quantity, category)
        }
        try context.save()
      }
      try body(try context(store))
    }
  }

  @Test("Requests begin at a class, and return its objects")
  func requests() throws {
    try withItems { context in
      let cheap: [Item] = try context.fetch(Item.where(\.quantity < 5).sorted(by: \.name))
      #expect(cheap.map(\.name) == ["Bread", "Tea"])
      #expect(try Item.fetch(in: context).count == 3)
      #expect(try context.fetch(Category.self).count == 2)
      #expect(try Item.count(where: \.quantity >= 4, in: context) == 2)
      #expect(try Item.fetch(where: \.name == "Tea", in: context).map(\.quantity) == [2])
      #expect(try context.fetch(Item.where("name BEGINSWITH %@", "M")).map(\.name) == ["Milk"])
    }
  }

  @Test("A request takes predicates of every form, and further ones restrict it")
  func predicateForms() throws {
    try withItems { context in
      let tea = try Item.where(#Predicate { $0.name == "Tea" })
      #expect(try context.fetch(tea).map(\.quantity) == [2])
      let small = try FetchPredicate("quantity < %@", 5)
      #expect(try context.count(for: Item.where(small)) == 2)
      let other = try Item.where(small).where(#Predicate { $0.name != "Tea" })
      #expect(try context.fetch(other).map(\.name) == ["Bread"])
      #expect(try context.fetch(Item.where(\.name != "Tea").where(small)).map(\.name) == ["Bread"])
    }
  }

  @Test("The first result is fetched by a predicate, or of any request, and is nil if there is none")
  func first() throws {
    try withItems { context in
      try #expect(Item.fetchFirst(where: \.name == "Milk", in: context)?.quantity == 9)
      try #expect(Item.fetchFirst(where: \.name == "Salt", in: context) == nil)
      try #expect(context.fetchFirst(Item.sorted(by: \.quantity, ascending: false))?.name == "Milk")
      Item(context: context).quantity = 20
      try #expect(context.fetchFirst(Item.sorted(by: \.quantity, ascending: false))?.quantity == 20)
      try #expect(context.fetchFirst(Item.all.rows(of: \.name)) != nil)
    }
  }

  @Test("Key paths sort, also over relationships and by numbers of members")
  func sorting() throws {
    try withItems { context in
      let items = try context.fetch(
        Item.sorted(by: \.category?.name, ascending: false).sorted(by: \.quantity).limited(to: 2))
      #expect(items.map(\.name) == ["Bread", "Tea"])
      #expect(try context.fetch(Category.sorted(by: \.items.count)).map(\.name) == ["Food", "Drinks"])
    }
  }

  @Test("Key paths name prefetched relationships, columns of rows and grouping")
  func rows() throws {
    try withItems { context in
      #expect(try context.fetch(Item.all.prefetching(\.category, \.category?.parent)).count == 3)
      let rows = try context.fetch(Item.where(\.quantity > 3).sorted(by: \.name).rows(of: \.name, \.quantity))
      #expect(rows.map { $0["name"] as? String } == ["Bread", "Milk"])
      let groups = try context.fetch(Item.sorted(by: \.category?.name).grouped(by: \.category?.name))
      #expect(groups.count == 2)
    }
  }

  @Test("Groups contain values computed from their members")
  func groups() throws {
    try withItems { context in
      let request = Item.all.grouped(
        by: \.category?.name, computing: ExpressionDescription("total", try FetchExpression("sum:(quantity)")))
      let totals = try context.fetch(request).map { row in
        "\(row["category.name"] as? String ?? "none"): \(row["total"] as? Int ?? -1)"
      }
      #expect(Set(totals) == ["Drinks: 11", "Food: 4"])
    }
  }

  @Test("A condition is a closure over a stand-in for the object, or just a Boolean value")
  func closures() throws {
    try withItems { context in
      #expect(try context.fetch(Item.where { $0.name.beginsWith("T") }).map(\.name) == ["Tea"])
      let categories = Category.where { $0.items.contains { $0.quantity > 5 } }
      #expect(try context.fetch(categories).map(\.name) == ["Drinks"])
      #expect(try context.fetch(categories.where { $0.name == "Food" }).isEmpty)
      try #require(try Item.fetch(where: \.name == "Milk", in: context).first).onSale = true
      #expect(try context.fetch(Item.where(\.onSale)).map(\.name) == ["Milk"])
    }
  }

  @Test("A to-many view is filtered by a typed predicate")
  func filter() throws {
    try withItems { context in
      let drinks = try #require(try Category.fetch(where: \.name == "Drinks", in: context).first)
      #expect(try drinks.items.filter(\.quantity < 5).map(\.name) == ["Tea"])
    }
  }

  @Test("A key path that computes its value stops the program with a message")
  func computed() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Item.sorted(by: \.name.count)
    }
    #expect(result?.says("doesn't lead to a property that Item") == true)
  }
}
