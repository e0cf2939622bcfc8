import Persist
import PersistMacrosless

final class SameLineChild: SameLineParent {
  @Attribute var third = "three"
  @Attribute var fourth = 4
}
