public import Persist
import PersistMacrosless

/// The sample model `Shop` as classes: the same entities as the newest version in `Models/Shop.xcdatamodeld`.
public enum ShopModel {
  public static func current() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      Item.self, Category.self, Tag.self, Review.self, Order.self, Line.self, Party.self, Person.self, Company.self,
      version: "3")
  }
}
