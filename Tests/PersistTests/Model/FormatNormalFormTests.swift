import Testing

@testable import Persist
@testable import PersistModel

@Suite("Normal form of predicates and expressions")
struct FormatNormalFormTests {
  @Test("White space and the kind of quotes are insignificant; words and quoted text are significant")
  func forms() {
    #expect("a  AND\n b == ' x '".formatNormalForm == "a AND b==\" x \"".formatNormalForm)
    #expect("things . @count".formatNormalForm == "things.@count")
    #expect("a AND b".formatNormalForm != "aANDb".formatNormalForm)
    #expect("a == 'x'".formatNormalForm != "a == 'X'".formatNormalForm)
    #expect(#"a == "it's""#.formatNormalForm == #"a=="it's""#)
    #expect(#"a == 'say "x"'"#.formatNormalForm == #"a=='say "x"'"#)
    #expect(#"a == 'it\'s' AND b"#.formatNormalForm == #"a=='it\'s'AND b"#)
    #expect("a == 'open".formatNormalForm == "a==\"open\"")
    #expect("".formatNormalForm == "")
  }

  @Test("A model and its archive, with other texts for the same formats, have identical storage and no differences")
  func models() throws {
    func model(_ derivation: String, _ rule: String, _ filter: String, composite: String) throws -> ManagedObjectModel {
      try ManagedObjectModel(
        ModelDescription(
          entities: [
            EntityDescription(
              "Item",
              attributes: [
                AttributeDescription(
                  "name", .string, validation: AttributeValidation(rules: [.init(predicate: rule)])),
                AttributeDescription("upper", .string, derivation: derivation),
                AttributeDescription("place", .composite, compositeName: composite),
              ], indexes: [FetchIndexDescription("i", elements: [.init(.property("name"))], partialPredicate: filter)])
          ], composites: [CompositeDescription(composite, elements: [AttributeDescription("x", .double)])]))
    }
    let source = try model("uppercase:( name )", "SELF != 'a'", "name  ==  'b'", composite: "Place")
    let archive = try model("uppercase:(name)", "SELF != \"a\"", "name == \"b\"", composite: "Item_place")
    #expect(source.fingerprints == archive.fingerprints)
    #expect(ModelDifference.between(store: archive, model: source).isEmpty)
    #expect(try ModelComparison(from: archive, to: source).operations.isEmpty)
  }
}
