// The version of the file format .tvbc, and its history.
//
//   1.0   the first
//
// A minor version adds ops, attribute values, dtypes or optional sections: a reader takes every older minor version,
// and a newer one if it finds only what it knows. A major version breaks that; readers refuse another major.
#pragma once

#include <cstdint>

namespace trivet::vm {

inline constexpr uint16_t kFormatMajor = 1;
inline constexpr uint16_t kFormatMinor = 0;

}  // namespace trivet::vm
