import Foundation

@testable import Persist
@testable import PersistModel

/// Cars as the batch tests use them: Car {maker, numberPlate required unique, mileage, price decimal, photo; owner},
/// SportCar: Car {isLimited}, Person {name; cars nullify; passport}.
enum CarModel {
  static func description(cars rule: DeleteRule = .nullify, ownerIsOptional: Bool = true) -> ModelDescription {
    ModelDescription(entities: [
      EntityDescription(
        "Car",
        attributes: [
          AttributeDescription("maker", .string), AttributeDescription("numberPlate", .string, isOptional: false),
          AttributeDescription("mileage", .int32, default: .integer(7)), AttributeDescription("price", .decimal),
          AttributeDescription("photo", .binary, allowsExternalStorage: true),
        ],
        relationships: [
          RelationshipDescription("owner", to: "Person", inverse: "cars", isOptional: ownerIsOptional),
          RelationshipDescription("drivers", toMany: "Person", inverse: "drives"),
        ], uniquenessConstraints: [["numberPlate"]]),
      EntityDescription("SportCar", parent: "Car", attributes: [AttributeDescription("isLimited", .boolean)]),
      EntityDescription(
        "Person", attributes: [AttributeDescription("name", .string)],
        relationships: [
          RelationshipDescription("cars", toMany: "Car", inverse: "owner", deleteRule: rule),
          RelationshipDescription("drives", toMany: "Car", inverse: "drivers"),
          RelationshipDescription("passport", to: "Passport", inverse: "holder"),
        ]),
      EntityDescription(
        "Passport", attributes: [AttributeDescription("number", .string)],
        relationships: [RelationshipDescription("holder", to: "Person", inverse: "passport")]),
    ])
  }

  static func seed(_ context: ManagedObjectContext) throws {
    let theodora = try context.make("Person", ["name": "Theodora"])
    for number in 1...6 {
      let car = try context.make(
        number > 4 ? "SportCar" : "Car",
        ["maker": number < 4 ? "FIAT" : "Kia", "numberPlate": "\(number)", "price": Decimal(number)])
      if number < 3 { car["owner"] = theodora }
      car["drivers"] = [theodora]
    }
    try context.save()
  }
}
