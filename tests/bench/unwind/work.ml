(* SPDX-License-Identifier: BSD-3-Clause *)

(* Calls of several kinds, forever. *)
exception Deep of int

let area side n =
  let n = ref n in
  for i = 0 to 199 do
    n := (!n * side) + i
  done;
  !n
[@@inline never]

let rec nest depth f = if depth = 0 then f depth else nest (depth - 1) f lxor depth

let thrown n = try raise (Deep (nest (n mod 9) (area n))) with Deep sum -> sum

let () =
  let seen = Hashtbl.create 50 in
  let n = ref 0 in
  while true do
    incr n;
    Hashtbl.replace seen (!n mod 50) (thrown !n);
    List.init 100 (fun i -> nest (i mod 9) (area i))
    |> List.map string_of_int
    |> List.sort compare
    |> List.fold_left (fun sum text -> sum + String.length text) 0
    |> Hashtbl.replace seen 51
  done
