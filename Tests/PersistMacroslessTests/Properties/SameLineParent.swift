import Persist
import PersistMacrosless

class SameLineParent: ManagedObject {
  @Attribute var first = 1
  @Attribute var second = "two"
}
