# What deploy/nix/flake.nix uses of nixpkgs, which is not at hand: with it, Nix reads the flake and shows what it would build.
{
  outputs =
    { self }:
    {
      lib.genAttrs =
        names: make:
        builtins.listToAttrs (
          map (name: {
            inherit name;
            value = make name;
          }) names
        );
      legacyPackages.x86_64-linux = {
        lib.licenses = {
          mit = "MIT";
          asl20 = "Apache-2.0";
        };
        lib.optionalString = is_wanted: text: if is_wanted then text else "";
        rustPlatform.buildRustPackage = arguments: { inherit arguments; };
        stdenv = {
          buildPlatform.canExecute = platform: true;
          hostPlatform = "x86_64-linux";
        };
        installShellFiles = "installShellFiles";
        mkShell = arguments: arguments;
      };
    };
}
