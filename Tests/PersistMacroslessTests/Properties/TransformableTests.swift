import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

private struct Colour: TransformableValue, Equatable {
  static let transformerName = "PersistMacroslessTests.Colour"
  var red: UInt8
  var green: UInt8
  var blue: UInt8
}

private struct ColourTransformer: AttributeTransformer {
  struct Wrong: Error {}

  func data(from value: Any) throws -> Data {
    guard let colour = value as? Colour else { throw Wrong() }
    return Data([colour.red, colour.green, colour.blue])
  }

  func value(from data: Data) throws -> Any {
    guard data.count == 3 else { throw Wrong() }
    return Colour(red: data[0], green: data[1], blue: data[2])
  }
}

private struct Unregistered: TransformableValue {
  static let transformerName = "PersistMacroslessTests.Nobody"
}

private final class Paint: ManagedObject {
  @Attribute var colour = Colour(red: 1, green: 2, blue: 3)
  @Attribute var second: Colour?
  @Attribute(transformer: Colour.transformerName) var bytes: Data?
}

private final class Nobody: ManagedObject {
  @Attribute var value: Unregistered?
}

@Suite("Transformable attributes of classes", .serialized)
struct TransformableTests {
  init() { AttributeTransformers.register(ColourTransformer(), named: Colour.transformerName) }

  @Test("Values of a type with a registered transformer are read back after reopening")
  func values() throws {
    try withTemporaryStore { store in
      let green = Colour(red: 0, green: 255, blue: 0)
      do {
        let context = try makeContext(Paint.self, at: store)
        let paint = Paint(context: context)
        #expect((paint.colour, paint.second) == (Colour(red: 1, green: 2, blue: 3), nil))
        paint.second = green
        paint.bytes = Data([7, 8, 9])
        try context.save()
      }
      let context = try makeContext(Paint.self, at: store)
      let paint = try #require(try Paint.fetch(in: context).first)
      #expect((paint.colour, paint.second) == (Colour(red: 1, green: 2, blue: 3), green))
      #expect(paint["second"] as? Colour == green)
      #expect(paint.bytes == Data([7, 8, 9]))
      #expect(paint["bytes"] as? Colour == Colour(red: 7, green: 8, blue: 9))
    }
  }

  @Test("The model contains the type and the transformer's name")
  func model() throws {
    let entity = try ManagedObjectModel(Paint.self).entity(named: "Paint")
    for name in ["colour", "second", "bytes"] {
      let attribute = try #require(entity.attribute(named: name))
      #expect((attribute.type, attribute.valueTransformerName) == (.transformable, Colour.transformerName))
    }
    #expect(entity.attribute(named: "colour")?.defaultValue == .data(Data([1, 2, 3])))
  }

  @Test("Bytes that the transformer can't read are nil, or the default")
  func unreadable() throws {
    let context = try makeContext(Paint.self)
    let paint = Paint(context: context)
    paint["second"] = StoredValue.data(Data([1]))
    paint["colour"] = StoredValue.data(Data([1]))
    #expect((paint.second, paint.colour) == (nil, Colour(red: 1, green: 2, blue: 3)))
  }

  @Test("An unregistered transformer stops the program with a message that says how to register it")
  func unregistered() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let object = Nobody(context: try makeContext(Nobody.self))
      object.value = Unregistered()
    }
    #expect(result?.says("AttributeTransformers.register(_:named:)") == true)
  }
}
