import Foundation
import Persist
import PersistTestSupport

/// Random versions of a model, each made from the one before.
struct ModelChain {
  /// A part of the model in its latest form.
  struct Field {
    let number: Int
    var name: String
    var former: String?
    var type: AttributeType
    var isThere = true
    /// Whether it has been in all versions so far, with types that keep all values.
    var isLasting = true
  }

  private(set) var versions: [ManagedObjectModel] = []
  /// The fields of each version.
  private(set) var fields: [[Field]] = []
  /// The names of the entity in each version.
  private(set) var entities: [String] = []
  /// The name of the relationship in each version.
  private(set) var relationships: [String] = []

  init(_ random: inout SeededRandom, count: Int) throws {
    func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
    var all = (0..<3).map { index in
      Field(number: index, name: "f\(index)", type: [.string, .int16, .boolean][index])
    }
    var (entity, formerEntity) = ("Thing", String?.none)
    var (relation, formerRelation) = ("owner", String?.none)
    for version in 0..<count {
      if version > 0 {
        for index in all.indices { all[index].former = nil }
        (formerEntity, formerRelation) = (nil, nil)
        for _ in 0...number(3) {
          let index = number(all.count)
          switch number(8) {
          case 0, 1:
            guard all[index].isThere, all[index].former == nil else { continue }
            all[index].former = all[index].name
            all[index].name = "f\(all[index].number)v\(version)"
          case 2:
            if version == 1 || all.count < 6 {
              all.append(Field(number: all.count, name: "f\(all.count)", type: .string, isLasting: false))
            }
          case 3:
            guard all[index].isThere, all[index].former == nil, all.count(where: \.isThere) > 1 else { continue }
            (all[index].isThere, all[index].isLasting) = (false, false)
          case 4:
            guard !all[index].isThere else { continue }
            all[index].isThere = true
          case 5:
            guard all[index].isThere else { continue }
            switch all[index].type {
            case .int16: all[index].type = .int32
            case .int32: all[index].type = .int64
            case .boolean: all[index].type = .int16
            default: break
            }
          case 6:
            guard formerEntity == nil else { continue }
            (formerEntity, entity) = (entity, "Thing\(version)")
          default:
            guard formerRelation == nil else { continue }
            (formerRelation, relation) = (relation, "owner\(version)")
          }
        }
      }
      let thing = EntityDescription(
        entity, renamingIdentifier: formerEntity,
        attributes: [.init("id", .uuid)]
          + all.filter(\.isThere).map { .init($0.name, $0.type, renamingIdentifier: $0.former) },
        relationships: [
          .init(relation, to: "Owner", inverse: "things", renamingIdentifier: formerRelation),
          .init("links", toMany: "Owner", inverse: "linked"),
        ])
      let owner = EntityDescription(
        "Owner", attributes: [.init("id", .uuid), .init("name", .string)],
        relationships: [
          .init("things", toMany: entity, inverse: relation), .init("linked", toMany: entity, inverse: "links"),
        ])
      let extra = version > 0 ? [EntityDescription("Extra", attributes: [.init("text", .string)])] : []
      versions.append(
        try ManagedObjectModel(
          ModelDescription(entities: [thing, owner] + extra, versionIdentifiers: ["\(version)"])))
      fields.append(all)
      entities.append(entity)
      relationships.append(relation)
    }
  }

  /// The versions that a program of one version knows.
  func registry(upTo version: Int) -> ModelRegistry {
    ModelRegistry(families: [
      ModelFamily(
        "Model", versions: (0...version).map { ModelVersion(name: "Model \($0)", model: versions[$0]) },
        current: "Model \(version)")
    ])
  }
}
