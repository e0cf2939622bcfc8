// Core Data's own module exports Foundation, too.
@_exported public import Foundation

// The names that public declarations of a program with this module mention.
@_exported public import class Persist.ManagedObject
@_exported public import class Persist.ManagedObjectID
