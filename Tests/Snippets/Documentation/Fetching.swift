import Foundation
import Persist
import PersistMacrosless

final class Item: ManagedObject {
  @Attribute var name = ""
  @Attribute var quantity = 0
  @Attribute var price = 0.0
  @Attribute var onSale = false
  @Attribute var deletedAt: Date?
  @Relationship(inverse: \Category.items) var category: Category?
}

final class Category: ManagedObject {
  @Attribute var name = ""
  @Relationship(inverse: \Category.children) var parent: Category?
  @Relationship var children: RelationshipSet<Category>
  @Relationship var items: RelationshipSet<Item>
}

@MainActor func requests(_ context: ManagedObjectContext) async throws {
  // <block 0>
  // <block 1>
  // <block 2>
  _ = (items, typed, ids, count)
}

func predicates() throws {
  // <block 3>
  _ = (format, keyPaths, closure, foundation)
}

func hidden(_ context: ManagedObjectContext) throws {
  // <block 4>
  _ = (present, everything)
}

func rows(_ context: ManagedObjectContext) throws {
  // <block 5>
  // <block 6>
  // <block 7>
  _ = (byPrice, names, categories)
}

func batches(_ context: ManagedObjectContext, _ given: FetchRequest<Item>) throws {
  var (request, names) = (given, [String]())
  // <block 8>
}

func awaited(_ context: ManagedObjectContext) async throws {
  var total = 0
  // <block 9>
  _ = items
}

func changes(_ context: ManagedObjectContext, cheap: TypedPredicate<Item>, names: [String]) throws {
  // <block 10>
}

func explained(_ context: ManagedObjectContext) throws {
  // <block 11>
}
