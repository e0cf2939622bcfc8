import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import ShopClasses
import Testing

/// The code of the article "Fetching", run unchanged.
@Suite("The guide to fetching")
struct FetchingGuideTests {
  /// Tea 2 for 4.50 and Milk 9 for 1.20 in Drinks, Bread 4 for 3 in Food.
  private func withItems(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withTemporaryStore { store in
      let coordinator = PersistentStoreCoordinator(model: try ShopModel.current())
      try coordinator.addStore(at: store)
      let context = ManagedObjectContext(coordinator)
      try fill(context)
      try body(context)
    }
  }

  private func fill(_ context: ManagedObjectContext) throws {
    let (drinks, food) = (Category(context: context), Category(context: context))
    (drinks.name, food.name) = ("Drinks", "Food")
    let all: [(String, Int, Decimal, Category)] = [
      ("Tea", 2, Decimal(45) / 10, drinks), ("Milk", 9, Decimal(12) / 10, drinks), ("Bread", 4, 3, food),
    ]
    for (name, quantity, price, category) in all {
      let item = Item(context: context)
      (item.name, item.quantity, item.price, item.category) = (name, quantity, price, category)
    }
    try context.save()
  }

  @Test("A request has a predicate, an order and a window")
  func requests() throws {
    try withItems { context in
      var request = FetchRequest<Item>("Item", sortedBy: [.init("category.name"), .init("price", isAscending: false)])
      request.predicate = try FetchPredicate("quantity < %@ AND category.name !=[c] %@", 5, "garden")
      request.fetchLimit = 20
      let items = try context.fetch(request)
      #expect(items.map(\.name) == ["Tea", "Bread"])
      let typed = try context.fetch(Item.where(\.quantity < 5).sorted(by: \.category?.name).limited(to: 20))
      #expect(typed == items)
      let ids = try context.fetch(request.returning(ManagedObjectID.self))
      let count = try context.count(for: request)
      #expect(ids == items.map(\.objectID) && count == 2)
      let byPrice = try context.fetch(Item.all.sorted(using: SortDescriptor(\Item.price, order: .reverse)))
      #expect(byPrice.map(\.name) == ["Tea", "Bread", "Milk"])
    }
  }

  @Test("A predicate can be written in three ways")
  func predicates() throws {
    try withItems { context in
      let format = try FetchPredicate("price < %@ AND ANY category.items.name BEGINSWITH[c] %@", 4, "t")
      let keyPaths: TypedPredicate<Item> = \.price < 4 && \.category?.name == "Drinks"
      let closure = TypedPredicate<Item> { $0.price * 2 < 8 && $0.category.items.contains { $0.name == "Tea" } }
      let foundation = try FetchPredicate(#Predicate<Item> { $0.price < 4 && $0.name.contains("ilk") })
      for predicate in [format, keyPaths.predicate, closure.predicate, foundation] {
        var request = FetchRequest<Item>("Item")
        request.predicate = predicate
        #expect(try context.fetch(request).map(\.name) == ["Milk"], "\(predicate)")
      }
    }
  }

  @Test("Rows contain values, of objects or of groups")
  func rows() throws {
    try withItems { context in
      let names = try context.fetch(Item.sorted(by: \.name).rows(of: \.name, \.price))
      #expect(names.map { $0["name"] as? String } == ["Bread", "Milk", "Tea"])
      var totals = Item.sorted(by: \.category?.name).grouped(
        by: \.category?.name, computing: .sum(of: \Item.quantity, as: "total"), .count(as: "items"))
      totals.havingPredicate = try FetchPredicate("total > 5")
      for row in try context.fetch(totals) {
        print(row["category.name"] as? String ?? "", row["total"] as? Int ?? 0)
      }
      let found = try context.fetch(totals)
      #expect(found.map { $0["category.name"] as? String } == ["Drinks"] && found.first?["total"] as? Int == 11)
    }
  }

  @Test("Related objects are prefetched, results in batches, and groups iterated")
  func reading() throws {
    try withItems { context in
      let categories = try context.fetch(Category.sorted(by: \.name).prefetching(\.items, \.parent))
      #expect(categories.map(\.items.count) == [2, 1])
      var request = Item.sorted(by: \.name)
      request.fetchBatchSize = 50
      let items = try context.fetchBatched(request)
      print(items.count, items.first?.name ?? "none")
      var names: [String] = []
      try context.forEachBatch(of: request, size: 1000) { items in
        for item in items { names.append(item.name) }
      }
      #expect(items.count == 3 && names == ["Bread", "Milk", "Tea"])
    }
  }

  @Test("A fetch is awaited, streamed, monitored and canceled")
  func awaiting() async throws {
    let coordinator = PersistentStoreCoordinator(model: try ShopModel.current())
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    try fill(context)
    let progress = Progress(totalUnitCount: -1)
    let items = try await context.fetch(Item.sorted(by: \.name), progress: progress)
    var total = 0
    for try await item in context.stream(Item.all) { total += item.quantity }
    #expect(items.count == 3 && total == 15 && progress.completedUnitCount == 3)
  }

  @Test("Batches change rows without objects, and are merged into contexts")
  func batches() throws {
    try withItems { context in
      let milk = try #require(try context.fetch(Item.where(\.name == "Milk")).first)
      #expect(milk.quantity == 9)
      let cheap: TypedPredicate<Item> = \.price < 2
      let sale = BatchUpdateRequest(
        "Item", where: cheap.predicate, set: ["quantity": .value(0), "onSale": .value(true)],
        resultType: .updatedObjectIDsResultType)
      let result = try context.execute(sale)
      context.mergeChanges(from: result.changes)
      #expect(result.count == 1 && milk.quantity == 0 && milk.onSale)
      try context.execute(BatchDeleteRequest(Item.where(\.onSale == true)))
      let names = ["Salt", "Sugar"]
      try context.execute(BatchInsertRequest("Item", names.map { ["name": $0, "quantity": 1] }))
      #expect(try context.fetch(Item.sorted(by: \.name).rows(of: \.name)).count == 4)
    }
  }

  @Test("Hidden objects are found by requests that ask for all")
  func hidden() throws {
    try withTemporaryStore { store in
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SoftDeletion.Item.self))
      try coordinator.addStore(at: store)
      let context = ManagedObjectContext(coordinator)
      let items = [SoftDeletion.Item(context: context), SoftDeletion.Item(context: context)]
      items[0].deletedAt = Date()
      try context.save()
      let (present, everything) = try SoftDeletion.hide(in: context)
      #expect(present == [items[1]] && Set(everything) == Set(items))
    }
  }

  /// Items with a date of deletion.
  private enum SoftDeletion {
    final class Item: ManagedObject {
      @Attribute var deletedAt: Date?
    }

    static func hide(in context: ManagedObjectContext) throws -> (present: [Item], everything: [Item]) {
      context.filterByDefault(Item.where(\.deletedAt == nil))
      let present = try context.fetch(Item.all)
      let everything = try context.fetch(Item.all.ignoringDefaultFilters())
      return (present, everything)
    }
  }

  @Test("A request is explained")
  func explaining() throws {
    try withItems { context in
      let explanation = try context.explain(Item.where(\.name == "Tea").sorted(by: \.price))
      print(explanation)
      #expect(explanation.statements.count == 1 && explanation.missingIndexes.map(\.attribute).contains("name"))
    }
  }

  @Test("Every line of code in the article is in these tests")
  func article() throws {
    let (missing, shown) = try ArticleCode.missing(
      from: #filePath, inArticle: "Sources/Persist/Persist.docc/Fetching.md")
    #expect(missing == [])
    #expect(shown > 20)
  }
}
