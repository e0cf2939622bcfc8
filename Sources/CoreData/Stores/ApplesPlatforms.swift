import Foundation

// Classes that exist on Apple's platforms only. Their names are declared, so that the compiler says what to do instead.

/// A container that mirrors its stores to CloudKit, which exists on Apple's platforms only.
@available(*, unavailable, message: "CloudKit exists on Apple's platforms only: use NSPersistentContainer here.")
public typealias NSPersistentCloudKitContainer = NSPersistentContainer

/// The options of a store that is mirrored to CloudKit.
@available(*, unavailable, message: "CloudKit exists on Apple's platforms only: set its options behind #if.")
public typealias NSPersistentCloudKitContainerOptions = NSObject

/// A store of an application's own, which can't be added here.
@available(*, unavailable, message: "An application's own stores can't be added here: use a SQLite or in-memory store.")
public typealias NSIncrementalStore = NSPersistentStore

/// A store of an application's own, which can't be added here.
@available(*, unavailable, message: "An application's own stores can't be added here: use a SQLite or in-memory store.")
public typealias NSAtomicStore = NSPersistentStore

/// Spotlight's index of objects, which exists on Apple's platforms only.
@available(*, unavailable, message: "Spotlight exists on Apple's platforms only: use it behind #if.")
public typealias NSCoreDataCoreSpotlightDelegate = NSObject
