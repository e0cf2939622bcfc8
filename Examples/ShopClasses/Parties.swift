public import Persist
public import PersistMacrosless

/// Whoever buys or sells.
open class Party: ManagedObject, DescribedEntity {
  open class var entityTraits: EntityTraits { EntityTraits(of: Party.self, isAbstract: true) }

  @Attribute public var name = ""
  @Relationship public var orders: RelationshipSet<Order>
}

open class Person: Party {
  @Attribute public var email: String?

  public convenience init(_ name: String, in context: ManagedObjectContext) {
    self.init(context: context)
    self.name = name
  }
}

public final class Company: Party {
  @Attribute(pattern: "[A-Z]{2}[0-9]{9}") public var taxNumber: String?
  @Relationship public var supplies: RelationshipSet<Item>
}
