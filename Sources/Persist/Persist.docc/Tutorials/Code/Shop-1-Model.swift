import Persist
import PersistMacrosless

final class Item: ManagedObject {
  @Attribute var name = "New Item"
  @Attribute var quantity = 1
}
