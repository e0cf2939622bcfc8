import Foundation
import Persist
import PersistTesting
import Testing

let (modelsFolder, goldenFolder) = (URL(fileURLWithPath: "Shop.xcdatamodeld"), URL(fileURLWithPath: "Golden"))
let policies: MigrationPolicies = []

// <block 0>

// <block 1>
