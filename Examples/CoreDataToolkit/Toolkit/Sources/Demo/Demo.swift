import CoreData
import Foundation

@objc(Shop)
public class Shop: NSManagedObject, Managed {
  @NSManaged public var identifier: UUID!
  @NSManaged public private(set) var name: String
  @NSManaged public var isOpen: Bool
  @NSManaged public var rating: Double
  @NSManaged public var openedAt: Date?
  @NSManaged public fileprivate(set) var products: Set<Product>
  @NSManaged public var productCount: Int64
  @NSManaged public var canonicalName: String?

  public static var defaultSortDescriptors: [NSSortDescriptor] {
    [
      NSSortDescriptor(
        key: #keyPath(Shop.name), ascending: true, selector: #selector(NSString.localizedCaseInsensitiveCompare(_:)))
    ]
  }

  public convenience init(name: String, context: NSManagedObjectContext) {
    self.init(context: context)
    self.name = name
  }

  override public func awakeFromInsert() {
    super.awakeFromInsert()
    setPrimitiveValue(UUID(), forKey: #keyPath(Shop.identifier))
    setPrimitiveValue(Date(), forKey: "openedAt")
  }

  @objc public var initial: String {
    willAccessValue(forKey: "name")
    defer { didAccessValue(forKey: "name") }
    return String(name.prefix(1)).uppercased()
  }

  @nonobjc public class func fetchRequest() -> NSFetchRequest<Shop> {
    return NSFetchRequest<Shop>(entityName: "Shop")
  }
}

// MARK: Generated accessors for products
extension Shop {
  @objc(addProductsObject:)
  @NSManaged public func addToProducts(_ value: Product)
  @objc(removeProductsObject:)
  @NSManaged public func removeFromProducts(_ value: Product)
  @objc(addProducts:)
  @NSManaged public func addToProducts(_ values: NSSet)
  @objc(removeProducts:)
  @NSManaged public func removeFromProducts(_ values: NSSet)
}

@objc(Product)
public class Product: NSManagedObject, Managed {
  private struct Keys { static let price = "price", currency = "currency" }
  public enum Kind: Int16 {
    case food = 0
    case tool, toy
  }

  @NSManaged public var sku: String
  @NSManaged public var title: String?
  @NSManaged public var price: NSDecimalNumber?
  @NSManaged private var primitiveKind: NSNumber?
  @NSManaged public var tags: [String]?
  @NSManaged public var shop: Shop?
  @NSManaged public var notes: NSOrderedSet?
  @NSManaged public var modifiedAt: Date?
  @NSManaged @objc public dynamic var stock: NSNumber?

  public var kind: Kind {
    get {
      willAccessValue(forKey: "kind")
      let value = primitiveKind
      didAccessValue(forKey: "kind")
      return value.flatMap { Kind(rawValue: $0.int16Value) } ?? .food
    }
    set {
      willChangeValue(forKey: "kind")
      primitiveKind = NSNumber(value: newValue.rawValue)
      didChangeValue(forKey: "kind")
    }
  }

  override public func willSave() {
    super.willSave()
    if hasChanges, !isDeleted, changedValues()["modifiedAt"] == nil {
      setPrimitiveValue(Date(), forKey: "modifiedAt")
    }
  }

  override public func validateForInsert() throws {
    try super.validateForInsert()
    try validatePrice()
  }

  override public func validateForUpdate() throws {
    try super.validateForUpdate()
    try validatePrice()
  }

  private func validatePrice() throws {
    guard let price = price, price.compare(NSDecimalNumber.zero) == .orderedAscending else { return }
    throw NSError(
      domain: "ToolkitErrorDomain", code: 77,
      userInfo: [
        NSLocalizedDescriptionKey: "Negative price", NSValidationObjectErrorKey: self,
        NSValidationKeyErrorKey: Keys.price,
      ])
  }

  @objc func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    guard let title = value.pointee as? String else { return }
    if title.isEmpty {
      throw NSError(
        domain: NSCocoaErrorDomain, code: NSValidationStringTooShortError, userInfo: [NSValidationKeyErrorKey: "title"])
    }
  }
}

extension Product {
  @objc(insertObject:inNotesAtIndex:)
  @NSManaged public func insertIntoNotes(_ value: Note, at idx: Int)
  @objc(removeObjectFromNotesAtIndex:)
  @NSManaged public func removeFromNotes(at idx: Int)
  @objc(addNotesObject:)
  @NSManaged public func addToNotes(_ value: Note)
  @objc(addNotes:)
  @NSManaged public func addToNotes(_ values: NSOrderedSet)
}

@objc(Note)
public class Note: NSManagedObject {
  @NSManaged public var text: String
  @NSManaged public var product: Product?

  override public func prepareForDeletion() {
    super.prepareForDeletion()
    Note.deleted += 1
  }
  nonisolated(unsafe) public static var deleted = 0
}

@objc(DiscountedProduct)
public final class DiscountedProduct: Product {
  @NSManaged public var discount: Int16
}

public enum DemoModel {
  public static let model: NSManagedObjectModel = makeModel()

  public static func makeModel(version: Int = 1) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    let shop = NSEntityDescription(for: Shop.self, withName: "Shop")
    let product = NSEntityDescription(for: Product.self, withName: "Product")
    let discounted = NSEntityDescription(for: DiscountedProduct.self, withName: "DiscountedProduct")
    let note = NSEntityDescription(for: Note.self, withName: "Note")

    shop.add(NSAttributeDescription.uuid(name: "identifier"))
    shop.add(NSAttributeDescription.string(name: "name", defaultValue: ""))
    shop.add(NSAttributeDescription.bool(name: "isOpen", defaultValue: true))
    let rating = NSAttributeDescription(name: "rating", type: .doubleAttributeType)
    rating.defaultValue = 0.0
    rating.setValidationPredicates(
      [NSPredicate(format: "SELF >= 0 AND SELF <= 5")], withValidationWarnings: ["Rating out of range"])
    shop.add(rating)
    shop.add(NSAttributeDescription.date(name: "openedAt", isOptional: true))
    shop.uniquenessConstraints = [["name"]]

    product.add(NSAttributeDescription.string(name: "sku", isOptional: false))
    product.add(NSAttributeDescription.string(name: "title", isOptional: true))
    product.add(NSAttributeDescription.decimal(name: "price", isOptional: true))
    product.add(NSAttributeDescription.int16(name: "kind", defaultValue: 0))
    product.add(NSAttributeDescription.transformable(for: NSArray.self, name: "tags"))
    product.add(NSAttributeDescription.date(name: "modifiedAt", isOptional: true))
    let stock = NSAttributeDescription.int64(name: "stock", isOptional: true)
    product.add(stock)
    product.uniquenessConstraints = [["sku"]]

    discounted.add(NSAttributeDescription.int16(name: "discount", defaultValue: 10))
    product.subentities = [discounted]

    note.add(NSAttributeDescription.string(name: "text", defaultValue: ""))
    if version > 1 { note.add(NSAttributeDescription.date(name: "createdAt", isOptional: true)) }

    let shopProducts = NSRelationshipDescription.toMany(
      name: "products", destination: product, deleteRule: .cascadeDeleteRule)
    let productShop = NSRelationshipDescription.toOne(name: "shop", destination: shop)
    shopProducts.inverseRelationship = productShop
    productShop.inverseRelationship = shopProducts
    let productNotes = NSRelationshipDescription.toMany(
      name: "notes", destination: note, ordered: true, deleteRule: .cascadeDeleteRule)
    let noteProduct = NSRelationshipDescription.toOne(name: "product", destination: product)
    productNotes.inverseRelationship = noteProduct
    noteProduct.inverseRelationship = productNotes
    shop.properties.append(shopProducts)
    product.properties += [productShop, productNotes]
    note.properties.append(noteProduct)

    shop.add(
      NSDerivedAttributeDescription(
        name: "productCount", type: .integer64AttributeType,
        derivationExpression: NSExpression(format: "products.@count")))
    shop.add(
      NSDerivedAttributeDescription(
        name: "canonicalName", type: .stringAttributeType,
        derivationExpression: NSExpression(forFunction: "canonical:", arguments: [NSExpression(forKeyPath: "name")])))
    product.createIndex(on: stock, named: "byStock")

    model.entities = [shop, product, discounted, note]
    model.setEntities([shop, product, discounted, note], forConfigurationName: "Default")
    model.versionIdentifiers = ["Demo\(version)"]
    return model
  }
}
