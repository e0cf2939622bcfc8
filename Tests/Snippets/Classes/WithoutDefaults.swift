import Foundation
import Persist
import PersistMacrosless

struct Address: CompositeValue { var city = "" }

// Types with an empty value need no default.
final class Item: ManagedObject {
  @Attribute var name: String
  @Attribute var quantity: Int
  @Attribute var addedAt: Date
  @Attribute(unique: true) var price: Decimal
  @Attribute var number: UUID?
  @Transient var rank: Int
  @Composite var address: Address
  @Composite var second: Address?
  @Derived("name") var label: String
}

func make(_ context: ManagedObjectContext) -> Item { Item(context: context) }
