public import Foundation

/// Lets convenience initializers of Foundation's classes return an instance of a subclass.
public protocol SubclassCreating {}

extension SubclassCreating {
  package init(creating make: () -> Self) { self = make() }
}

extension NSPredicate: SubclassCreating {}
extension NSSortDescriptor: SubclassCreating {}
