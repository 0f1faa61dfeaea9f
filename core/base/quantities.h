#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fusescope {

// These functions format quantities for people, with three digits and a suitable unit. Negative numbers begin with "−".

std::string inBytes(std::int64_t bytes);      ///< "512 B", "3.40 MiB"
std::string inTime(double ms);                ///< "0 ms", "0.700 µs", "85.2 µs", "0.250 ms", "1.53 s"
std::string inTimeDifference(double ms);      ///< a difference: "+0.700 µs", "−1.25 ms", "0 ms"
std::string inThousands(std::int64_t count);  ///< "104,145"
/// "2 casts more", "1 cast fewer", "no cast more".
std::string inCountDifference(std::int64_t more, std::string_view one);
std::string inBytesDifference(std::int64_t more);  ///< "3.40 MiB more", "512 B less", "no byte more"

}  // namespace fusescope
