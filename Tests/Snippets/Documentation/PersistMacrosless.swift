// as-script
import Foundation

let url = URL(fileURLWithPath: "Shop.sqlite")
// <block 0>
_ = cheap
