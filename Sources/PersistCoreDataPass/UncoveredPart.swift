/// A part of Apple's frameworks that has no counterpart.
package enum UncoveredPart: Hashable, CaseIterable {
  case cloudKit, spotlight, ownStores, keyValueObserving, selectors, pointerValidation, optionalRequirements
  case extensionOverride, diffableSnapshots, objectiveCRuntime, frameworks, managedMethod, expressionKind
  case combine, inaccessibleFaults

  package var message: String {
    switch self {
    case .cloudKit: "CloudKit's containers don't exist off Apple's platforms: use NSPersistentContainer there."
    case .spotlight: "Spotlight doesn't exist off Apple's platforms."
    case .ownStores: "Incremental and atomic stores of an application's own can't be added."
    case .keyValueObserving: "Objects can't be observed by key: observe a notification of the context instead."
    case .selectors: "A method can't be called by its selector: pass a closure instead."
    case .pointerValidation:
      "A validation method isn't called: declare it in the module that declares its class."
    case .optionalRequirements: "A protocol's requirement can't be optional: give it a default in an extension."
    case .extensionOverride: "A member can't be overridden in an extension here: move it into the class."
    case .diffableSnapshots: "Diffable snapshots belong to UIKit and AppKit."
    case .objectiveCRuntime: "There is no Objective-C runtime."
    case .frameworks: "This framework exists on Apple's platforms only: import it behind #if canImport."
    case .expressionKind: "There are no expressions of this kind: filter the results in memory."
    case .managedMethod: "Core Data generates no such method: give it a body."
    case .combine: "Combine exists on Apple's platforms only: follow a notification, or use it behind #if canImport."
    case .inaccessibleFaults: "This method isn't called: an object whose row is gone counts as deleted."
    }
  }

  package var title: String {
    switch self {
    case .cloudKit: "CloudKit"
    case .spotlight: "Spotlight"
    case .ownStores: "Stores of an application's own"
    case .keyValueObserving: "Key-value observing"
    case .selectors: "Selectors"
    case .pointerValidation: "Validation methods away from their classes"
    case .optionalRequirements: "Optional requirements"
    case .extensionOverride: "Overrides in extensions"
    case .diffableSnapshots: "Diffable snapshots"
    case .objectiveCRuntime: "Objective-C's runtime"
    case .frameworks: "Frameworks of Apple's platforms"
    case .managedMethod: "Managed methods"
    case .expressionKind: "Kinds of expressions"
    case .combine: "Combine"
    case .inaccessibleFaults: "Faults without rows"
    }
  }

  /// Names whose mere use isn't covered.
  static let names: [String: UncoveredPart] = [
    "NSPersistentCloudKitContainer": .cloudKit, "NSPersistentCloudKitContainerOptions": .cloudKit,
    "NSPersistentCloudKitContainerEvent": .cloudKit, "cloudKitContainerOptions": .cloudKit,
    "NSCoreDataCoreSpotlightDelegate": .spotlight, "NSIncrementalStore": .ownStores,
    "NSIncrementalStoreNode": .ownStores, "NSAtomicStore": .ownStores, "NSAtomicStoreCacheNode": .ownStores,
    "observeValue": .keyValueObserving, "NSSaveChangesRequest": .ownStores, "registerStoreClass": .ownStores,
    "AnyPublisher": .combine, "AnyCancellable": .combine, "PassthroughSubject": .combine,
    "CurrentValueSubject": .combine, "ObservableObject": .combine, "objectWillChange": .combine,
    "shouldHandleInaccessibleFault": .inaccessibleFaults,
    "NSDiffableDataSourceSnapshotReference": .diffableSnapshots, "NSDiffableDataSourceSnapshot": .diffableSnapshots,
    "objc_getAssociatedObject": .objectiveCRuntime, "objc_setAssociatedObject": .objectiveCRuntime,
    "class_getInstanceMethod": .objectiveCRuntime, "method_exchangeImplementations": .objectiveCRuntime,
    "class_addMethod": .objectiveCRuntime, "expressionForAnyKey": .expressionKind,
  ]

  /// Modules that exist on Apple's platforms only.
  static let modules: Set<String> = [
    "UIKit", "AppKit", "SwiftUI", "Cocoa", "CloudKit", "CoreSpotlight", "CoreLocation", "MapKit", "Combine",
    "ObjectiveC", "CryptoKit", "Security", "WidgetKit", "UserNotifications", "StoreKit",
  ]
}
