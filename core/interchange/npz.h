#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope {

/// Arrays by their names in the archive without ".npy".
using NpzArrays = std::map<std::string, Tensor>;

/// Reads a .npz (stored or deflated) of .npy arrays, versions 1 to 3. The types are b1, i1…i8, u1…u8, f2, f4, f8, c8,
/// c16, V2 as bf16, and V1 as u1, the codes of ml_dtypes types of one byte (fromCodes() in codes.h). Fortran order
/// becomes row-major. Big-endian, pickled and structured arrays, invalid headers, extents that are too large and
/// truncated files are errors that name file and array.
Result<NpzArrays> readNpz(const std::filesystem::path& path);
/// Writes an uncompressed .npz atomically, directly from the memory of the arrays. bf16 is written as V2, as ml_dtypes
/// does; types that numpy does not have are written as codes of one byte (u1).
Status writeNpz(const std::filesystem::path& path, const NpzArrays& arrays);

/// Reads one array of the .npy format. `file` and `array` are only used to locate errors.
Result<Tensor> parseNpy(std::span<const std::byte> bytes, const std::string& file, const std::string& array);
/// The contents of a .npy file: `head`, then the elements of `elements` as they are in memory.
struct NpyPieces {
  std::string head;
  Tensor elements;
};
/// Does the inverse. Errors: types that .npy cannot express, text that is not UTF-8.
Result<NpyPieces> npyPieces(const Tensor& tensor, const std::string& array);
Result<std::string> npyBytes(const Tensor& tensor, const std::string& array);

/// Returns the arrays that are inputs: those named `in:NAME`, or if there are none, every array without the prefix
/// `out:`.
NpzArrays inputsFrom(const NpzArrays& arrays);
/// Returns the arrays that are outputs: those named `out:NAME`, or if there are none, every array without the prefix
/// `in:`.
NpzArrays outputsFrom(const NpzArrays& arrays);

}  // namespace fusescope
