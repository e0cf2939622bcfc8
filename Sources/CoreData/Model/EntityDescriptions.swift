import Foundation
import Persist

/// The descriptions of entities that objects are asked for.
enum EntityDescriptions {
  private struct Known {
    weak var description: NSEntityDescription?
    /// The order in which the models were first used.
    let order: Int
  }

  private struct State {
    /// The descriptions of each entity. Several models can describe the same, for example the one of a migration.
    var known: [ObjectIdentifier: [Known]] = [:]
    var order = 0
    /// The models with a coordinator, with the order of their latest one.
    var opened: [ObjectIdentifier: Int] = [:]
    /// The answers for classes, which hold until a model comes or goes.
    var byClass: [ObjectIdentifier: Weak<NSEntityDescription>] = [:]
  }

  private static let state = Locked(State())

  static func add(_ descriptions: [NSEntityDescription]) {
    state.withLock { state in
      state.order += 1
      state.byClass = [:]
      for description in descriptions {
        guard let entity = description.entity else { continue }
        state.known[ObjectIdentifier(entity), default: []].append(Known(description: description, order: state.order))
      }
    }
  }

  /// Forgets a model's descriptions of entities. A model that is going counts as none.
  static func remove(_ entities: [Entity], of model: NSManagedObjectModel) {
    state.withLock { state in
      state.byClass = [:]
      for entity in entities {
        let others = state.known[ObjectIdentifier(entity)]?.filter { known in
          known.description?.managedObjectModel.map { $0 !== model } ?? false
        }
        state.known[ObjectIdentifier(entity)] = others?.isEmpty == false ? others : nil
      }
    }
  }

  /// Records that a coordinator uses a model.
  static func open(_ model: NSManagedObjectModel) {
    state.withLock { state in
      state.order += 1
      state.byClass = [:]
      state.opened[ObjectIdentifier(model)] = state.order
    }
  }

  /// Forgets a model that is going.
  static func close(_ model: NSManagedObjectModel) {
    state.withLock { $0.opened[ObjectIdentifier(model)] = nil }
  }

  static func description(of entity: Entity) -> NSEntityDescription {
    known(entity) ?? NSEntityDescription(detached: entity)
  }

  private static func known(_ entity: Entity) -> NSEntityDescription? {
    state.withLock { $0.known[ObjectIdentifier(entity)]?.lazy.compactMap(\.description).first }
  }

  /// Returns the model of this module that describes one of Persist's; nil if none does.
  static func model(describing model: ManagedObjectModel) -> NSManagedObjectModel? {
    model.entities.first.flatMap(known)?.managedObjectModel
  }

  /// Returns the entity whose class is the given one: that of the model whose coordinator is newest, if there are
  /// several; without coordinators, that of the newest model.
  static func description(whereClassIs type: NSManagedObject.Type) -> NSEntityDescription? {
    if let found = state.withLock({ $0.byClass[ObjectIdentifier(type)]?.object }) { return found }
    let all = newest()
    let name = "\(type)"
    // Only names that may be those of the class are resolved at first, because there can be many versions of a model.
    let found = all.first { $0.mayHaveClass(named: name) && $0.managedObjectClass == type }
      ?? all.first { $0.managedObjectClass == type }
    if let found { state.withLock { $0.byClass[ObjectIdentifier(type)] = Weak(found) } }
    return found
  }

  /// Returns the entity with a name, in the order of ``description(whereClassIs:)``.
  static func description(named name: String) -> NSEntityDescription? { newest().first { $0.name == name } }

  private static func newest() -> [NSEntityDescription] {
    let (known, opened) = state.withLock { ($0.known.values.flatMap(\.self), $0.opened) }
    return known.compactMap { known in
      known.description.map { description in
        let opening = description.managedObjectModel.flatMap { opened[ObjectIdentifier($0)] } ?? 0
        return (description: description, rank: (opening, known.order))
      }
    }.sorted { $0.rank > $1.rank }.map(\.description)
  }
}

extension NSEntityDescription {
  fileprivate func mayHaveClass(named name: String) -> Bool {
    managedObjectClassName.map { $0 == name || $0.hasSuffix(".\(name)") } ?? false
  }
}
